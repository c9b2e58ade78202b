"""The line values of hunks, made many at a time.

A diff is mostly lines, and a frozen dataclass's constructor costs more than reading the line;
so the fields are collected in columns, a run of equal signs at a time, and written into the
values' slots column by column.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from models.change import Line, LineKind

_NEW: Callable[[type[Line]], Line] = object.__new__
_SLOTS: dict[str, Any] = dict(vars(Line))
_COLUMNS = ("kind", "old_no", "new_no", "text", "no_newline")


class LineColumns:
    """Collects the lines of hunks, then makes their values."""

    def __init__(self) -> None:
        self._kinds: list[LineKind] = []
        self._olds: list[int | None] = []
        self._news: list[int | None] = []
        self._texts: list[str] = []
        self._open_ends: list[int] = []

    def __len__(self) -> int:
        return len(self._kinds)

    def read(
        self, lines: Sequence[str], position: int, old: int, old_end: int, new: int, new_end: int
    ) -> int:
        """Collects a hunk's lines, from ``lines[position]`` on; gives the position behind them.

        ``old`` and ``new`` are the two sides' first line numbers, ``old_end`` and ``new_end``
        the numbers behind their last. That the hunk is whole must be known: nothing is checked.
        """
        kinds, olds, news, texts = self._kinds, self._olds, self._news, self._texts
        size = len(lines)
        while old < old_end or new < new_end:
            sign = lines[position][:1]
            stop = position + 1
            while stop < size and lines[stop][:1] == sign:
                stop += 1
            # a run may go on behind the hunk, where it is no part of it
            if sign == "+":
                stop = min(stop, position + new_end - new)
                run = stop - position
                kinds += [LineKind.ADDED] * run
                olds += [None] * run
                news += range(new, new + run)
                new += run
            elif sign == "-":
                stop = min(stop, position + old_end - old)
                run = stop - position
                kinds += [LineKind.DELETED] * run
                olds += range(old, old + run)
                news += [None] * run
                old += run
            elif sign == "\\":
                self.mark_no_newline()
                position = stop
                continue
            else:
                stop = min(stop, position + old_end - old, position + new_end - new)
                run = stop - position
                kinds += [LineKind.CONTEXT] * run
                olds += range(old, old + run)
                news += range(new, new + run)
                old += run
                new += run
            # some tools strip trailing blanks, and with them the sign of an empty context line
            start = 1 if sign in "+- " else 0
            texts += [raw[start:] for raw in lines[position:stop]]
            position = stop
        return position

    def mark_no_newline(self) -> None:
        """The last line collected has no line feed at its end."""
        if self._kinds:
            self._open_ends.append(len(self._kinds) - 1)

    def make(self) -> list[Line]:
        """The values of all lines collected."""
        found = list(map(_NEW, repeat(Line, len(self._kinds))))
        columns: tuple[Iterable[object], ...] = (
            self._kinds,
            self._olds,
            self._news,
            self._texts,
            repeat(False),
        )
        for name, column in zip(_COLUMNS, columns, strict=True):
            deque(map(_SLOTS[name].__set__, found, column), maxlen=0)
        for at in self._open_ends:
            found[at] = replace(found[at], no_newline=True)
        return found
