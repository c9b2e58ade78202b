"""Hunks from lines of a diff: unidiff finds and checks them, the line values are made here.

unidiff reads in its metadata mode, which checks every hunk's counts against its header but
builds no line objects; the lines are then made straight from the text by the starts and counts
that it found. That is faster than its full mode, keeps carriage returns, form feeds and U+2028
inside lines, and takes the end-of-file marker in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import length_hint
from typing import NamedTuple

from unidiff import PatchSet, UnidiffParseError
from unidiff.constants import RE_HUNK_HEADER

from bot.diff.errors import DiffError
from bot.diff.names import is_utf8, shown
from models.change import Hunk, Line, LineKind

_DAMAGED = "the diff was cut or edited: make it again with git diff"


class _Shape(NamedTuple):
    """What unidiff says of one hunk: starts, counts, and the text after the second ``@@``."""

    source_start: int
    source_length: int
    target_start: int
    target_length: int
    section_header: str


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
    position = 0
    result = []
    for file in files:
        hunks = []
        for found in file:
            position = _find_hunk(lines, position, first_line)
            shape = _Shape(
                found.source_start,
                found.source_length,
                found.target_start,
                found.target_length,
                found.section_header,
            )
            hunk, position = _read_hunk(lines, position + 1, shape, first_line)
            hunks.append(hunk)
        result.append(
            PlainFile(
                file.source_file,
                file.target_file,
                file.source_timestamp,
                file.target_timestamp,
                file.is_binary_file,
                tuple(hunks),
            )
        )
    _find_hunk(lines, position, first_line)
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
    lines: Sequence[str], position: int, shape: _Shape, first_line: int
) -> tuple[Hunk, int]:
    """One hunk's lines from ``position`` on, and the position behind them.

    unidiff has checked that the counts hold, so the loop needs no bounds of its own.
    """
    old, new = shape.source_start, shape.target_start
    old_end, new_end = old + shape.source_length, new + shape.target_length
    found: list[Line] = []
    append = found.append
    added, deleted, context = LineKind.ADDED, LineKind.DELETED, LineKind.CONTEXT
    while old < old_end or new < new_end:
        raw = lines[position]
        position += 1
        sign = raw[:1]
        if sign == "+":
            append(Line(added, None, new, raw[1:]))
            new += 1
        elif sign == "-":
            append(Line(deleted, old, None, raw[1:]))
            old += 1
        elif sign == "\\":
            _mark_no_newline(found)
        else:
            # some tools strip trailing blanks, and with them the sign of an empty context line
            append(Line(context, old, new, raw[1:] if sign == " " else raw))
            old += 1
            new += 1
    if position < len(lines):
        following = lines[position]
        if following.startswith("\\ "):
            _mark_no_newline(found)
            position += 1
        elif _continues(following):
            raise DiffError(
                "the hunk is longer than its header says",
                line=first_line + position,
                hint=_DAMAGED,
            )
    section = shape.section_header
    if not is_utf8(section):
        # git cuts this text at 80 bytes, even in the middle of a character
        section = section.encode("utf-8", "ignore").decode("utf-8")
    return (
        Hunk(
            old_start=shape.source_start,
            old_count=shape.source_length,
            new_start=shape.target_start,
            new_count=shape.target_length,
            lines=tuple(found),
            section=section,
        ),
        position,
    )


def _continues(line: str) -> bool:
    """Whether a line right behind a hunk looks like more of it: not a mail's signature mark."""
    if line.startswith(("+", " ")):
        return True
    return line.startswith("-") and line.rstrip() != "--" and not line.startswith("--- ")


def _mark_no_newline(found: list[Line]) -> None:
    """The marker speaks of the line before it."""
    if found:
        found[-1] = replace(found[-1], no_newline=True)
