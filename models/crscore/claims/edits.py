"""The smallest differences between two syntax nodes, each with the nodes around it."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import tree_sitter

from models.crscore.claims.chains import (
    LINK,
    TAKES,
    chain,
    head_word,
    is_join,
    link_text,
    operands,
    takes,
)
from models.crscore.claims.texts import flat
from models.syntax.grammar import fields_of, text_of, walk
from models.syntax.language import Language, Role

# Nesting in which differences are still looked for; below it a node counts as one whole.
_DEPTH = 40
# Sequences whose lengths multiply to more are not aligned, and larger nodes not searched.
_ALIGNED = 40_000
_LOOKED_INTO = 3_000
_LISTS = frozenset(
    {Role.ARGUMENTS, Role.PARAMETERS, Role.COLLECTION, Role.STRING, Role.MODIFIER, Role.BLOCK}
)


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference: ``old`` became ``new`` (``None``: nothing was, or is, there).

    ``around`` are the nodes above it on the new side (the old side for a removal), innermost
    last, each with the field and the place by which it holds the next.
    """

    old: tree_sitter.Node | None
    new: tree_sitter.Node | None
    around: tuple[tuple[tree_sitter.Node, str, int], ...]
    old_around: tuple[tuple[tree_sitter.Node, str, int], ...] = ()

    @property
    def old_text(self) -> str:
        """The old node's text on one line."""
        return flat(self.old)

    @property
    def new_text(self) -> str:
        """The new node's text on one line."""
        return flat(self.new)


def leaves(node: tree_sitter.Node, row: Language, skip_blocks: bool = True) -> tuple[str, ...]:
    """The tokens below a node, layout and comments left out, nested blocks too if asked."""
    out: list[str] = []
    stack = [node]
    while stack:
        here = stack.pop()
        role = row.role(here.type)
        if role is Role.COMMENT or (skip_blocks and role is Role.BLOCK and here != node):
            continue
        if here.child_count == 0 or role is Role.STRING:
            text = text_of(here) if role is Role.STRING else flat(here)
            if text and text != ";":
                out.append(text)
            continue
        stack.extend(reversed(here.children))
    return tuple(out)


Path = tuple[tuple[tree_sitter.Node, str, int], ...]


def differing(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int, int, int]]:
    """The runs ``old[i:j]`` and ``new[k:m]`` in which two sequences differ, in order.

    What begins and ends alike is set aside first; what is left is aligned where that is cheap,
    and else is one run.
    """
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    olds, news = old[start : len(old) - end], new[start : len(new) - end]
    if not olds and not news:
        return []
    if not olds or not news or len(olds) * len(news) > _ALIGNED:
        return [(start, start + len(olds), start, start + len(news))]
    matcher = difflib.SequenceMatcher(None, olds, news, autojunk=False)
    return [
        (start + i, start + j, start + k, start + m)
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]


class _Differ:
    def __init__(self, row: Language, limit: int = 40) -> None:
        self.row = row
        self.limit = limit
        self.found: list[Edit] = []
        self._leaves: dict[int, tuple[str, ...]] = {}
        self._keep: list[tree_sitter.Node] = []

    def tokens(self, node: tree_sitter.Node) -> tuple[str, ...]:
        if node.id not in self._leaves:
            self._leaves[node.id] = leaves(node, self.row)
            self._keep.append(node)
        return self._leaves[node.id]

    def _children(self, node: tree_sitter.Node) -> list[tuple[tree_sitter.Node, str]]:
        # What a function value takes is compared apart.
        taken = takes(node, self.row) if self.row.role(node.type) is Role.LAMBDA else None
        return [
            (child, name)
            for child, name in fields_of(node)
            if self.row.role(child.type) not in (Role.COMMENT, Role.BLOCK)
            and child.type not in (",", ";")
            and child != taken
            and self.tokens(child)
        ]

    def diff(
        self,
        old: tree_sitter.Node,
        new: tree_sitter.Node,
        around: Path = (),
        old_around: Path = (),
        depth: int = 0,
    ) -> None:
        if len(self.found) >= self.limit or self.tokens(old) == self.tokens(new):
            return
        role = self.row.role(new.type)
        alike = old.type == new.type or (role is not None and role is self.row.role(old.type))
        if (
            not alike
            or depth > _DEPTH
            or old.child_count == 0
            or new.child_count == 0
            or role in (Role.STRING, Role.COMMENT)
        ):
            self.found.append(Edit(old, new, around, old_around))
            return
        if role is Role.LAMBDA:
            around = self._lambda(old, new, around, old_around)
        if role is Role.BINARY and is_join(old) != is_join(new):
            self.found.append(Edit(old, new, around, old_around))
            return
        if role is Role.BINARY and self._operands(old, new, around, old_around, depth):
            return
        if role is Role.CALL and self._chains(old, new, around, old_around):
            return
        olds, news = self._children(old), self._children(new)
        if (
            role in _LISTS
            or len(olds) != len(news)
            or any(a[1] != b[1] for a, b in zip(olds, news, strict=True))
        ):
            self._sequence(old, new, olds, news, around, old_around, depth)
            return
        for at, ((a, name), (b, _)) in enumerate(zip(olds, news, strict=True)):
            self.diff(a, b, (*around, (new, name, at)), (*old_around, (old, name, at)), depth + 1)

    def _lambda(
        self, old: tree_sitter.Node, new: tree_sitter.Node, around: Path, old_around: Path
    ) -> Path:
        """Compare what two function values take, whichever way it is written."""
        was, now = takes(old, self.row), takes(new, self.row)
        if was is not None and now is not None and self.tokens(was) != self.tokens(now):
            self.found.append(
                Edit(was, now, (*around, (new, TAKES, 0)), (*old_around, (old, TAKES, 0)))
            )
        return around

    def _operands(
        self,
        old: tree_sitter.Node,
        new: tree_sitter.Node,
        around: Path,
        old_around: Path,
        depth: int,
    ) -> bool:
        """Align the operands of ``a + b + c`` as a list, where one came or went."""
        (sign, olds), (other, news) = operands(old, self.row), operands(new, self.row)
        if sign != other or len(olds) == len(news):
            return False
        self._sequence(
            old, new, [(n, "") for n in olds], [(n, "") for n in news], around, old_around, depth
        )
        return True

    def _chains(
        self, old: tree_sitter.Node, new: tree_sitter.Node, around: Path, old_around: Path
    ) -> bool:
        """Align two chains of calls ``a.b().c()`` link by link, where they differ in length."""
        olds, news = chain(old, self.row), chain(new, self.row)
        if len(olds) == len(news):
            return False
        first = [link_text(link, self.row) for link in olds]
        second = [link_text(link, self.row) for link in news]
        if not set(first) & set(second):
            return False
        for i, j, k, m in differing(first, second):
            befores = list(range(i, j))
            afters = list(range(k, m))
            for to in list(afters):
                # The same call with other arguments
                name = second[to].split("(")[0]
                same = next((at for at in befores if first[at].split("(")[0] == name), None)
                was = olds[same].child_by_field_name("arguments") if same is not None else None
                now = news[to].child_by_field_name("arguments")
                if same is None or was is None or now is None:
                    continue
                befores.remove(same)
                afters.remove(to)
                self.diff(
                    was,
                    now,
                    (*around, (news[to], "arguments", 0)),
                    (*old_around, (olds[same], "arguments", 0)),
                    1,
                )
            for at in befores:
                self.found.append(
                    Edit(olds[at], None, (*around, (new, LINK, at)), (*old_around, (old, LINK, at)))
                )
            for to in afters:
                self.found.append(
                    Edit(None, news[to], (*around, (new, LINK, to)), (*old_around, (old, LINK, to)))
                )
        return True

    def _sequence(
        self,
        old: tree_sitter.Node,
        new: tree_sitter.Node,
        olds: Sequence[tuple[tree_sitter.Node, str]],
        news: Sequence[tuple[tree_sitter.Node, str]],
        around: Path,
        old_around: Path,
        depth: int,
    ) -> None:
        """Align children that need not be as many on both sides."""
        first, second = [self.tokens(a) for a, _ in olds], [self.tokens(b) for b, _ in news]
        for i, j, k, m in differing(first, second):
            lefts, rights = list(range(i, j)), list(range(k, m))
            while lefts and rights:
                pair = self._best(olds, news, lefts, rights)
                if pair is None or len(self.found) >= self.limit:
                    break
                at, to = pair
                lefts.remove(at)
                rights.remove(to)
                self.diff(
                    olds[at][0],
                    news[to][0],
                    (*around, (new, news[to][1], to)),
                    (*old_around, (old, olds[at][1], at)),
                    depth + 1,
                )
            for at in lefts:
                self.found.append(
                    Edit(
                        olds[at][0],
                        None,
                        (*around, (new, olds[at][1], at)),
                        (*old_around, (old, olds[at][1], at)),
                    )
                )
            for to in rights:
                self.found.append(
                    Edit(
                        None,
                        news[to][0],
                        (*around, (new, news[to][1], to)),
                        (*old_around, (old, "", -1)),
                    )
                )

    def _best(
        self,
        olds: Sequence[tuple[tree_sitter.Node, str]],
        news: Sequence[tuple[tree_sitter.Node, str]],
        lefts: list[int],
        rights: list[int],
    ) -> tuple[int, int] | None:
        """The two children that most likely became one another, by name, field and tokens."""
        best: tuple[float, int, int] | None = None
        if len(lefts) * len(rights) > 400:
            return lefts[0], rights[0]
        for at in lefts:
            for to in rights:
                a, b = olds[at][0], news[to][0]
                if a.is_named != b.is_named:
                    continue
                value = self._likeness(olds[at], news[to])
                if at == to:
                    value += 0.3 if len(olds) == len(news) else 0.15
                if best is None or value > best[0]:
                    best = (value, at, to)
        return (best[1], best[2]) if best is not None and best[0] >= 0.15 else None

    def _likeness(
        self, old: tuple[tree_sitter.Node, str], new: tuple[tree_sitter.Node, str]
    ) -> float:
        a, b = set(self.tokens(old[0])), set(self.tokens(new[0]))
        value = 2 * len(a & b) / (len(a) + len(b))
        if head_word(self.tokens(old[0])) == head_word(self.tokens(new[0])):
            value += 0.3
        for name in ("name", "key"):
            x, y = old[0].child_by_field_name(name), new[0].child_by_field_name(name)
            if x is not None and y is not None:
                value += 0.8 if flat(x) == flat(y) else -0.5
        if old[1] and old[1] == new[1]:
            value += 0.4
        return value + (0.1 if old[0].type == new[0].type else -0.1)


def edits(
    old: tree_sitter.Node, new: tree_sitter.Node, row: Language, limit: int = 40
) -> list[Edit]:
    """The differences between two nodes, in the order of the new side, at most ``limit``."""
    differ = _Differ(row, limit)
    differ.diff(old, new)
    return differ.found


def holds(outer: tree_sitter.Node, inner: tree_sitter.Node, row: Language) -> bool:
    """Whether some node below ``outer`` says the same as ``inner``."""
    if outer.descendant_count > _LOOKED_INTO:
        return False
    want = leaves(inner, row)
    size = len(want)
    if not size:
        return False
    return any(
        node.is_named and node.descendant_count >= size and leaves(node, row) == want
        for node in walk(outer)
        if node != outer
    )
