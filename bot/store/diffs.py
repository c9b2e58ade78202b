"""The diff behind a review, kept for its page: hunks as JSON, deflated by their column."""

from __future__ import annotations

import json
from typing import Any

from bot.store.text import dump_json
from models.change import Change, ChangedFile, FileStatus, Hunk, Line, LineKind

MOST_LINES = 20_000
"""Lines of all hunks that are kept; GitHub's own diff ends there too. Later hunks are left out."""

_SIGNS = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.DELETED: "-"}
_KINDS = {sign: kind for kind, sign in _SIGNS.items()}
_NO_NEWLINE = "\\"


def pack(change: Change) -> bytes:
    """A change's files and hunks as JSON, at most ``MOST_LINES`` lines of them."""
    left = MOST_LINES
    files = []
    for file in change:
        hunks = []
        for hunk in file.hunks:
            left -= len(hunk.lines)
            if left < 0:
                break
            numbers = [hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count]
            hunks.append([*numbers, hunk.section, _rows(hunk)])
        files.append([file.old_path, file.new_path, file.status.value, hunks])
    return dump_json(files).encode()


def unpack(packed: bytes) -> tuple[ChangedFile, ...]:
    """The files that ``pack`` wrote; text that no database takes has become escapes."""
    return tuple(
        ChangedFile(old, new, FileStatus(status), tuple(_hunk(row) for row in hunks))
        for old, new, status, hunks in json.loads(packed)
    )


def _rows(hunk: Hunk) -> list[str]:
    rows = []
    for line in hunk.lines:
        rows.append(_SIGNS[line.kind] + line.text)
        if line.no_newline:
            rows.append(_NO_NEWLINE)
    return rows


def _hunk(row: list[Any]) -> Hunk:
    old, old_count, new, new_count, section, rows = row
    # a side without lines is numbered by the line before the gap
    old_no, new_no = old + (not old_count), new + (not new_count)
    lines: list[Line] = []
    for text in rows:
        if text == _NO_NEWLINE:
            last = lines.pop()
            lines.append(Line(last.kind, last.old_no, last.new_no, last.text, no_newline=True))
            continue
        kind = _KINDS[text[0]]
        on_old, on_new = kind is not LineKind.ADDED, kind is not LineKind.DELETED
        lines.append(Line(kind, old_no if on_old else None, new_no if on_new else None, text[1:]))
        old_no, new_no = old_no + on_old, new_no + on_new
    return Hunk(old, old_count, new, new_count, tuple(lines), section)
