"""One hunk, read: both sides' units, their alignment, and the sentences said so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import tree_sitter

from models.change import Hunk, Line
from models.crscore.claims.align import Alignment, Rows, align
from models.crscore.claims.conditions import condition_words
from models.crscore.claims.units import FUNCTION, TYPE, Unit, read_units
from models.crscore.claims.wording import Place, Said, place_of, quote
from models.syntax.fragment import PLACEHOLDER, Fragment
from models.syntax.language import Language, Role
from models.syntax.section import Section

# Of a very long hunk so many units of a kind are told of; a dozen sentences are kept in the end.
MOST_UNITS = 200


@dataclass(frozen=True, slots=True)
class SideLines:
    """A side's lines, and for each the smallest indentation so far (``None``: all blank)."""

    lines: tuple[Line, ...]
    outermost: tuple[int | None, ...]
    first: int | None

    @classmethod
    def of(cls, lines: tuple[Line, ...]) -> SideLines:
        """Read the indentation of a side."""
        least: int | None = None
        first: int | None = None
        found: list[int | None] = []
        for line in lines:
            if line.text.strip():
                depth = len(line.text) - len(line.text.lstrip())
                first = depth if first is None else first
                least = depth if least is None else min(least, depth)
            found.append(least)
        return cls(lines, tuple(found), first)


@dataclass(slots=True)
class Reading:
    """What the makers of claims share about one hunk.

    ``first_old``/``first_new`` are the rows of the hunk's first line on each side (0 for bare
    hunks, the place in the file where whole files were read).
    """

    hunk: Hunk
    row: Language
    old: list[Unit]
    new: list[Unit]
    alignment: Alignment
    rows: Rows
    section: Section
    first_old: int
    first_new: int
    before: SideLines
    after: SideLines
    said: list[Said] = field(default_factory=list)
    done: set[int] = field(default_factory=set)  # id() of units that need no sentence any more

    @classmethod
    def of(
        cls, hunk: Hunk, old: Fragment, new: Fragment, first_old: int = 0, first_new: int = 0
    ) -> Reading:
        """Read both sides of a hunk in trees that hold at least its lines."""
        section = Section.read(hunk.section)
        name = section.name if section.kind == "function" else ""
        old_units = read_units(old, first_old, first_old + max(hunk.old_count - 1, 0), name)
        new_units = read_units(new, first_new, first_new + max(hunk.new_count - 1, 0), name)
        rows = Rows.of(hunk, first_old, first_new)
        return cls(
            hunk=hunk,
            row=new.row,
            old=old_units if hunk.old_count else [],
            new=new_units if hunk.new_count else [],
            alignment=align(old_units, new_units, rows),
            rows=rows,
            section=section,
            first_old=first_old,
            first_new=first_new,
            before=SideLines.of(hunk.before),
            after=SideLines.of(hunk.after),
        )

    def say(self, text: str, weight: float, unit: Unit | None = None) -> None:
        """Add a sentence about a unit of either side, unless it speaks of what was made up."""
        if PLACEHOLDER in text.lower():
            return
        self.said.append(Said(text, weight, self.lines(unit)))

    def is_on_new_side(self, unit: Unit) -> bool:
        """Whether a unit is of the new side."""
        return unit.index < len(self.new) and self.new[unit.index] is unit

    def lines(self, unit: Unit | None) -> tuple[int, ...]:
        """A unit's changed lines: head-side numbers, or base-side ones of an old unit."""
        if unit is None:
            changed = self.hunk.added or self.hunk.deleted
            return tuple(n for line in changed if (n := line.new_no or line.old_no))
        is_new = self.is_on_new_side(unit)
        first = self.first_new if is_new else self.first_old
        side = (self.after if is_new else self.before).lines
        marked = self.rows.new_changed if is_new else self.rows.old_changed
        found: list[int] = []
        for row in sorted(unit.on):
            at = row - first
            if row in marked and 0 <= at < len(side):
                number = side[at].new_no if is_new else side[at].old_no
                if number is not None:
                    found.append(number)
        return tuple(found)

    def place(self, unit: Unit) -> Place:
        """The function and type around a unit."""
        return place_of(unit, self.section, self._in_section(unit))

    def phrase(self, unit: Unit) -> str:
        """What a unit defines, "method `run`"; its kind alone where it has no name."""
        definition = unit.definition
        if definition is None:
            return ""
        return f"{self.kind(unit)} {quote(definition.name)}" if definition.name else self.kind(unit)

    def kind(self, unit: Unit) -> str:
        """The word for a definition; a function in a type is a method even where only the section
        of the hunk tells of the type."""
        definition = unit.definition
        if definition is None:
            return ""
        if definition.kind == "function" and not definition.parent and self.place(unit).type:
            return "constructor" if definition.name == "__init__" else "method"
        return definition.kind

    def _in_section(self, unit: Unit) -> bool:
        """Whether the unit stands inside what git names after the second ``@@``."""
        if not self.section.name or unit.rows[0] < 0:
            return False
        is_new = self.is_on_new_side(unit)
        side = self.after if is_new else self.before
        at = unit.rows[0] - (self.first_new if is_new else self.first_old)
        if not 0 <= at < len(side.outermost) or side.first is None:
            return False
        depth = side.outermost[at]
        if depth is None:
            return False
        if self.section.kind in ("function", "variable", "call"):
            # A line further out than where the hunk begins may already have left it.
            return depth > 0 and (depth >= side.first or depth > 4)
        return depth > 0

    def guard(self, unit: Unit) -> str:
        """The added condition under which a unit runs, "" where there is none."""
        for parent, branch in reversed(unit.parents):
            if parent.kind in (FUNCTION, TYPE):
                break
            if parent.kind == Role.IF.value and branch != "alternative":
                condition = condition_words(parent.node, self.row)
                return condition if PLACEHOLDER not in condition else ""
        return ""

    def finish(self, unit: Unit, inner: bool = False) -> None:
        """Mark a unit as spoken of, with all that it holds if asked."""
        stack = [unit]
        while stack:
            here = stack.pop()
            self.done.add(id(here))
            if inner:
                stack.extend(here.inner)

    def is_new(self, unit: Unit) -> bool:
        """Whether a unit of the new side has no counterpart on the old one."""
        return self.alignment.counterpart(unit) is None

    def is_done(self, unit: Unit) -> bool:
        """Whether a unit was spoken of."""
        return id(unit) in self.done

    def role(self, node: tree_sitter.Node) -> Role | None:
        """The role of a node in this language."""
        return self.row.role(node.type)
