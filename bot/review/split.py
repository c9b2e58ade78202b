"""Splitting a hunk that is longer than a model's input, at statements and never inside a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.change import Hunk, Line, LineKind

_UNKNOWN_DEPTH = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one side of a window may have: lines, and characters with their line feeds."""

    lines: int
    chars: int

    def __post_init__(self) -> None:
        if self.lines < 1 or self.chars < 1:
            raise ValueError(
                f"a window of {self.lines} lines and {self.chars} characters holds nothing: "
                "give at least 1 of each"
            )


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Where statements begin on each side, and the places within a replacement."""

    new: Mapping[int, int]
    old: Mapping[int, int]
    torn: frozenset[int]


def split(
    hunk: Hunk,
    new_cuts: Mapping[int, int] | None,
    old_cuts: Mapping[int, int] | None,
    limits: Limits,
) -> tuple[list[tuple[int, int]], int]:
    """Ranges of the hunk's lines (end excluded) that fit, and how many changed lines none holds.

    ``new_cuts`` and ``old_cuts`` are the line numbers at which statements begin on the two sides,
    with their depth: a cut is made at the outermost one in reach, the last of equals. A line that
    is longer than a whole window is left out; it is counted where it was changed.
    """
    ranges: list[tuple[int, int]] = []
    unread = 0
    start = 0
    cuts = _Cuts(new_cuts or {}, old_cuts or {}, _tears(hunk.lines))
    for at, line in enumerate(hunk.lines):
        if len(line.text) + 1 > limits.chars:
            ranges += _cut(hunk, start, at, cuts, limits)
            unread += line.kind is not LineKind.CONTEXT
            start = at + 1
    ranges += _cut(hunk, start, len(hunk.lines), cuts, limits)
    return ranges, unread


def _cut(
    hunk: Hunk,
    start: int,
    end: int,
    cuts: _Cuts,
    limits: Limits,
) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    while start < end:
        stop = _reach(hunk.lines, start, end, limits)
        if stop < end:
            stop = _best(hunk.lines, start, stop, cuts)
        ranges.append((start, stop))
        start = stop
    return ranges


def _reach(lines: tuple[Line, ...], start: int, end: int, limits: Limits) -> int:
    """The end of the longest run from ``start`` whose two sides both fit; at least one line."""
    count, size = [0, 0], [0, 0]
    for at in range(start, end):
        line = lines[at]
        sides = (line.kind is not LineKind.ADDED, line.kind is not LineKind.DELETED)
        for i, on in enumerate(sides):
            count[i] += on
            size[i] += (len(line.text) + 1) * on
        if at > start and (max(count) > limits.lines or max(size) > limits.chars):
            return at
    return end


def _best(
    lines: tuple[Line, ...],
    start: int,
    stop: int,
    cuts: _Cuts,
) -> int:
    """Where to end a run that must end by ``stop``: at a statement's beginning, if there is one.

    The outermost in the later half is best, then the last of any; a place within a replacement
    (between what was deleted and what was added for it) only where there is no other.
    """
    half = start + (stop - start) // 2
    choices: list[tuple[bool, bool, int, int]] = []
    for at in range(start + 1, stop + 1):
        line = lines[at]
        depth = _UNKNOWN_DEPTH
        if line.new_no is not None:
            depth = cuts.new.get(line.new_no, _UNKNOWN_DEPTH)
        elif line.old_no is not None:
            depth = cuts.old.get(line.old_no, _UNKNOWN_DEPTH)
        if depth == _UNKNOWN_DEPTH:
            continue
        choices.append((at in cuts.torn, at <= half, depth if at > half else 0, -at))
    return -min(choices)[3] if choices else stop


def _tears(lines: tuple[Line, ...]) -> frozenset[int]:
    """The places (before these indices) within a run of lines that replaces others."""
    found: list[int] = []
    start = 0
    for at in range(len(lines) + 1):
        if at < len(lines) and lines[at].kind is not LineKind.CONTEXT:
            continue
        if len({line.kind for line in lines[start:at]}) > 1:
            found += range(start + 1, at)
        start = at + 1
    return frozenset(found)
