"""Hunks from lines of a diff: unidiff finds and checks them, the line values are made here.

unidiff reads in its metadata mode, which checks every hunk's counts against its header but
builds no line objects; the lines are then made straight from the text by the starts and counts
that it found. That is faster than its full mode, keeps carriage returns, form feeds and U+2028
inside lines, and takes the end-of-file marker in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import length_hint
from typing import Any

from unidiff import PatchSet, UnidiffParseError
from unidiff.constants import RE_HUNK_HEADER

from bot.diff.errors import DiffError
from bot.diff.lines import LineColumns
from bot.diff.names import is_utf8, shown
from models.change import Hunk, Line

_DAMAGED = "the diff was cut or edited: make it again with git diff"


@dataclass(frozen=True, slots=True)
class PlainFile:
    """One file as unidiff saw it: raw names, the times beside them, its hunks."""

    source: str
    target: str
    source_time: str | None
    target_time: str | None
    binary: bool
    hunks: tuple[Hunk, ...]


def read_files(lines: Sequence[str], *, first_line: int, headless: bool) -> list[PlainFile]:
    """The files and hunks in ``lines`` (no line feeds), by unidiff.

    ``first_line`` is the 1-based line of the input where ``lines`` begins, for messages. Where
    ``headless``, the lines begin with a hunk whose file header was read elsewhere: the first
    file of the answer holds its hunks and has empty names. Raises :class:`DiffError` where a
    hunk and its header disagree.
    """
    # unidiff ends a file at an empty line without a line feed, but knows one with it
    body = [line or "\n" for line in lines] if "" in lines else lines
    head = ("--- ", "+++ ") if headless else ()
    rest = iter(body)
    try:
        files = PatchSet(chain(head, rest), metadata_only=True)
    except UnidiffParseError as error:
        at = len(body) - length_hint(rest)
        what = str(error).splitlines()[0].rstrip().rstrip(":")
        raise DiffError(
            _lower(shown(what)), line=first_line + max(at, 1) - 1, hint=_DAMAGED
        ) from None
    columns = LineColumns()
    position = 0
    bounds = []
    for found in chain.from_iterable(files):
        begin = len(columns)
        position = _read_hunk(lines, position, found, columns, first_line)
        bounds.append((begin, len(columns)))
    _find_hunk(lines, position, first_line)
    values = columns.make()
    spans = iter(bounds)
    result = []
    for file in files:
        hunks = tuple(_make_hunk(found, values[slice(*next(spans))]) for found in file)
        result.append(
            PlainFile(
                file.source_file,
                file.target_file,
                file.source_timestamp,
                file.target_timestamp,
                file.is_binary_file,
                hunks,
            )
        )
    return result


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _find_hunk(lines: Sequence[str], position: int, first_line: int) -> int:
    """The next line outside a hunk that is a hunk's header; refuses what only looks like one."""
    for at in range(position, len(lines)):
        line = lines[at]
        if line.startswith("@@"):
            if RE_HUNK_HEADER.match(line):
                return at
            raise DiffError("the hunk header is malformed", line=first_line + at, hint=_DAMAGED)
    return len(lines)


def _read_hunk(
    lines: Sequence[str], position: int, found: Any, columns: LineColumns, first_line: int
) -> int:
    """Collects the lines of the next hunk, which unidiff has checked; the position behind it."""
    old, new = found.source_start, found.target_start
    old_end, new_end = old + found.source_length, new + found.target_length
    header = _find_hunk(lines, position, first_line)
    position = columns.read(lines, header + 1, old, old_end, new, new_end)
    if position < len(lines):
        following = lines[position]
        if following.startswith("\\ "):
            columns.mark_no_newline()
            position += 1
        elif _continues(following):
            raise DiffError(
                "the hunk is longer than its header says",
                line=first_line + position,
                hint=_DAMAGED,
            )
    return position


def _make_hunk(found: Any, lines: Sequence[Line]) -> Hunk:
    section = found.section_header
    if not is_utf8(section):
        # git cuts this text at 80 bytes, even in the middle of a character
        section = section.encode("utf-8", "ignore").decode("utf-8")
    return Hunk(
        old_start=found.source_start,
        old_count=found.source_length,
        new_start=found.target_start,
        new_count=found.target_length,
        lines=tuple(lines),
        section=section,
    )


def _continues(line: str) -> bool:
    """Whether a line right behind a hunk looks like more of it: not a mail's signature mark."""
    if line.startswith(("+", " ")):
        return True
    return line.startswith("-") and line.rstrip() != "--" and not line.startswith("--- ")
