"""Which unit of the old side became which of the new: pairs, moves, additions, removals."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from models.change import Hunk, LineKind
from models.crscore.claims.units import FUNCTION, TYPE, Unit

# Pairing by similarity compares all with all; beyond this many it goes by order alone.
_MATRIX = 80
_ENOUGH = 0.34
_RENAMED = 0.6
_SAME_SHAPE = frozenset({"comment", "docstring", "import", FUNCTION, TYPE, "catch", "else", "case"})


@dataclass(slots=True)
class Alignment:
    """The touched units of a hunk's two sides, each in exactly one list.

    ``changed`` are pairs of different wording; ``kept`` are pairs that say the same but stand on
    changed lines: moved, re-indented, or only laid out anew.
    """

    changed: list[tuple[Unit, Unit]] = field(default_factory=list)
    kept: list[tuple[Unit, Unit]] = field(default_factory=list)
    added: list[Unit] = field(default_factory=list)
    removed: list[Unit] = field(default_factory=list)
    other: dict[int, Unit] = field(default_factory=dict)  # by id() of the unit, both ways

    def pair(self, old: Unit, new: Unit) -> None:
        """Record that ``old`` became ``new``."""
        (self.kept if old.key == new.key else self.changed).append((old, new))
        self.other[id(old)] = new
        self.other[id(new)] = old

    def counterpart(self, unit: Unit) -> Unit | None:
        """What this unit was, or became."""
        return self.other.get(id(unit))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of the two sides: which changed, and which context row is which."""

    old_changed: frozenset[int]
    new_changed: frozenset[int]
    to_new: dict[int, int]

    @classmethod
    def of(cls, hunk: Hunk, old_first: int = 0, new_first: int = 0) -> Rows:
        """Rows counted from the hunk's first line on each side, plus an offset a side."""
        old, new = old_first, new_first
        deleted: set[int] = set()
        added: set[int] = set()
        context: dict[int, int] = {}
        for line in hunk.lines:
            if line.kind is LineKind.DELETED:
                deleted.add(old)
                old += 1
            elif line.kind is LineKind.ADDED:
                added.add(new)
                new += 1
            else:
                context[old] = new
                old += 1
                new += 1
        return cls(frozenset(deleted), frozenset(added), context)


def _touches(unit: Unit, rows: frozenset[int]) -> bool:
    return not rows.isdisjoint(unit.on)


def similarity(old: Unit, new: Unit) -> float:
    """How alike two units are (0 to 1): shared tokens, a little more for the same kind."""
    if not old.words or not new.words:
        return 0.0
    shared = sum((old.words & new.words).values())
    value = 2 * shared / (old.words.total() + new.words.total())
    if old.definition is not None and new.definition is not None:
        if old.definition.name == new.definition.name:
            value += 0.3
        else:
            # Heads are all alike: another name is a new name only for much the same body.
            shared = sum((old.whole & new.whole).values())
            value = 2 * shared / (old.whole.total() + new.whole.total())
            value = value if value >= _RENAMED else 0.0
    return value * (1.0 if old.kind == new.kind else 0.7)


def _may_pair(old: Unit, new: Unit) -> bool:
    if old.kind == new.kind:
        return True
    return old.kind not in _SAME_SHAPE and new.kind not in _SAME_SHAPE


def _by_position(
    old: list[Unit], new: list[Unit], rows: Rows, alignment: Alignment
) -> tuple[list[Unit], list[Unit]]:
    """Pair units that share a context line: the line says that they are the same."""
    owners: dict[int, list[Unit]] = defaultdict(list)
    for unit in old:
        for row in sorted(unit.on):
            if row in rows.to_new:
                owners[rows.to_new[row]].append(unit)
    for unit in new:
        if unit.rows[0] < 0:
            continue
        best: tuple[float, Unit] | None = None
        seen: set[int] = set()
        for row in sorted(unit.on):
            for owner in owners.get(row, ()):
                if id(owner) in seen or id(owner) in alignment.other:
                    continue
                seen.add(id(owner))
                if owner.kind == unit.kind or _may_pair(owner, unit):
                    value = 2.0 if owner.key == unit.key else similarity(owner, unit)
                    if best is None or value > best[0]:
                        best = (value, owner)
        if best is not None and best[0] >= 0.2:
            alignment.pair(best[1], unit)
    return (
        [unit for unit in old if id(unit) not in alignment.other],
        [unit for unit in new if id(unit) not in alignment.other],
    )


def _by_key(old: list[Unit], new: list[Unit], alignment: Alignment) -> None:
    waiting: dict[object, list[Unit]] = defaultdict(list)
    for unit in old:
        waiting[unit.key].append(unit)
    for unit in new:
        same = waiting.get(unit.key)
        # A bare bracket or keyword says too little to be the same one.
        if same and (len(unit.tokens) > 1 or unit.kind != "expression"):
            alignment.pair(same.pop(0), unit)


def _by_similarity(old: list[Unit], new: list[Unit], alignment: Alignment, same_kind: bool) -> None:
    """Pair the most alike first; a condition or loop also by how much of its body it keeps."""

    def likeness(o: Unit, n: Unit) -> float:
        value = similarity(o, n)
        if o.kind == n.kind and o.inner and n.inner and o.definition is None:
            kept = sum(alignment.counterpart(u) in n.inner for u in o.inner)
            value += 0.6 * kept / max(len(o.inner), len(n.inner))
        return value

    def allowed(o: Unit, n: Unit) -> bool:
        return o.kind == n.kind if same_kind else _may_pair(o, n)

    if len(old) * len(new) > _MATRIX * _MATRIX:
        candidates = [
            (likeness(o, n), -float(at), o, n)
            for at, (o, n) in enumerate(zip(old, new, strict=False))
            if allowed(o, n)
        ]
    else:
        candidates = [
            # nearer in order wins among equals
            (likeness(o, n), -abs(i / len(old) - j / len(new)), o, n)
            for i, o in enumerate(old)
            for j, n in enumerate(new)
            if allowed(o, n)
        ]
    candidates.sort(key=lambda item: (item[0], item[1]), reverse=True)
    for value, _, o, n in candidates:
        lonely = len(old) == 1 and len(new) == 1 and o.kind == n.kind
        if value < (0.2 if lonely else _ENOUGH):
            break
        if id(o) not in alignment.other and id(n) not in alignment.other:
            alignment.pair(o, n)


def align(old: list[Unit], new: list[Unit], rows: Rows) -> Alignment:
    """Align the units of the two sides of one hunk; untouched ones pair by their context lines."""
    whole = Alignment()
    rest_old, rest_new = _by_position(old, new, rows, whole)
    rest_old = [unit for unit in rest_old if unit.rows[0] >= 0]
    rest_new = [unit for unit in rest_new if unit.rows[0] >= 0]
    _by_key(rest_old, rest_new, whole)
    for same_kind in (True, False):
        _by_similarity(
            [unit for unit in rest_old if id(unit) not in whole.other],
            [unit for unit in rest_new if id(unit) not in whole.other],
            whole,
            same_kind,
        )
    result = Alignment(other=whole.other)
    result.changed = whole.changed
    result.kept = [
        (o, n)
        for o, n in whole.kept
        if _touches(o, rows.old_changed) or _touches(n, rows.new_changed)
    ]
    result.added = [
        unit for unit in new if id(unit) not in whole.other and _touches(unit, rows.new_changed)
    ]
    result.removed = [
        unit for unit in old if id(unit) not in whole.other and _touches(unit, rows.old_changed)
    ]
    key = {id(unit): at for at, unit in enumerate(new)}
    result.changed.sort(key=lambda pair: key[id(pair[1])])
    return result
