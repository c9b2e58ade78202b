"""Machine fixes: edits inside a text become replacements of whole lines."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from models.review_types import Replacement

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters ``start`` to ``end`` (0-based offsets into the text, end excluded) -> ``text``."""

    start: int
    end: int
    text: str


class LineIndex:
    """Offsets of a text's lines; lines end with a line feed (a carriage return belongs to it)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        position = text.find("\n")
        while position != -1:
            self.starts.append(position + 1)
            position = text.find("\n", position + 1)

    def offset(self, row: int, column: int) -> int:
        """The offset of a 1-based row and 0-based column in characters; clipped to the text."""
        if row > len(self.starts):
            return len(self.text)
        return min(self.starts[max(row, 1) - 1] + column, len(self.text))

    def row(self, offset: int) -> int:
        """The 1-based row in which an offset lies."""
        return bisect.bisect_right(self.starts, offset)

    def line(self, row: int) -> str:
        """One line without its ending; empty past the end."""
        if not 1 <= row <= len(self.starts):
            return ""
        end = self.starts[row] - 1 if row < len(self.starts) else len(self.text)
        return self.text[self.starts[row - 1] : end].removesuffix("\r")

    @property
    def count(self) -> int:
        """The number of lines; a line feed at the very end opens no further one."""
        return len(self.starts) - (1 if self.text.endswith("\n") or not self.text else 0)


def line_replacements(text: str, edits: Sequence[Edit]) -> tuple[Replacement, ...]:
    """``edits`` as the smallest replacements of whole lines, in order, never touching.

    Empty where they overlap, change nothing, or the text has a carriage return that ends a line
    alone or starts with a byte order mark (tools count these differently).
    """
    if not edits or "\r" in text.replace("\r\n", "") or text.startswith(BYTE_ORDER_MARK):
        return ()
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    if any(first.end > second.start for first, second in itertools.pairwise(ordered)):
        return ()
    index = LineIndex(text)
    groups: list[list[Edit]] = []
    last_row = -1
    for edit in ordered:
        if groups and index.row(edit.start) <= last_row + 1:
            groups[-1].append(edit)
        else:
            groups.append([edit])
        last_row = max(last_row, index.row(edit.end))
    made = [_replacement(index, group) for group in groups]
    return tuple(one for one in made if one is not None)


def _replacement(index: LineIndex, edits: Sequence[Edit]) -> Replacement | None:
    """One group of neighbouring edits as one replacement; ``None`` where nothing changes."""
    first = min(index.row(edits[0].start), max(index.count, 1))
    last = min(max(index.row(edit.end) for edit in edits), max(index.count, 1))
    start = index.starts[first - 1]
    end = index.starts[last] if last < len(index.starts) else len(index.text)
    pieces: list[str] = []
    position = start
    for edit in edits:
        pieces += [index.text[position : edit.start], edit.text]
        position = edit.end
    pieces.append(index.text[position:end])
    old = [index.line(row) for row in range(first, last + 1)]
    new = "".join(pieces).replace("\r\n", "\n").removesuffix("\n").split("\n")
    if not "".join(pieces):
        new = []
    while len(old) > 1 and new and old[-1] == new[-1]:
        old, new, last = old[:-1], new[:-1], last - 1
    while len(old) > 1 and new and old[0] == new[0]:
        old, new, first = old[1:], new[1:], first + 1
    return None if old == new else Replacement(first, last, tuple(new))
