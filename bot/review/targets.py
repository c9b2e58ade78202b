"""Targets: each hunk with the code around it, as a generator sees it, and the way back.

The window is the hunk and as much context as fits, clipped to the enclosing function where one is
known. A hunk longer than the input is split at statements (blank lines, in a language without a
grammar), never inside a line, and the note says what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from models.change import ChangedFile, Hunk, LineKind
from models.review_types import Target
from models.syntax import (
    Definition,
    definitions,
    language_of,
    language_row,
    statement_boundaries,
)

MAX_LINES = 60
MAX_CHARS = 3000
CONTEXT = 12


def targets_of(
    file: ChangedFile,
    base: bytes | None,
    head: bytes | None,
    *,
    max_lines: int = MAX_LINES,
    max_chars: int = MAX_CHARS,
) -> tuple[tuple[Target, ...], str]:
    """The targets of one changed file, in order.

    Args:
        file: the file with its hunks.
        base: its bytes at the merge base, ``None`` where they are not at hand.
        head: its bytes at the head; without them a window is only the hunk.
        max_lines: most lines of the head side that a window has.
        max_chars: most characters of the head side that a window has.

    Returns:
        The targets, and a note for the coverage, "" where all of every hunk is in a target.
    """
    if not file.hunks:
        return (), ""
    first = (head or base or b"").split(b"\n", 1)[0].decode("utf-8", "replace")
    language = language_of(file.path, first)
    known = language_row(language) is not None
    source = head if head is not None else _hunks_as_source(file)
    found = definitions(source, language) if known else []
    # paragraphs stand in where there is no grammar; only asked for when a hunk must be split
    boundaries: Mapping[int, int] | None = None
    lines = None if head is None else _lines(head)
    targets: list[Target] = []
    left_out = 0
    for hunk in file.hunks:
        if boundaries is None and _too_long(hunk, max_lines, max_chars):
            boundaries = statement_boundaries(source, language)
        for part in _parts(hunk, boundaries or {}, max_lines, max_chars):
            if not any(line.kind is not LineKind.CONTEXT for line in part.lines):
                continue
            if sum(len(line.text) for line in part.after) > max_chars:
                left_out += len(part.added)
                continue
            targets.append(_target(file, language, part, lines, found, max_lines, max_chars))
    note = ""
    if left_out:
        word = "line" if left_out == 1 else "lines"
        note = f"{left_out} changed {word} longer than the model's input of {max_chars} characters"
    return tuple(targets), note


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")


def _hunks_as_source(file: ChangedFile) -> bytes:
    """The hunks' new sides at their own line numbers, blank lines between them."""
    rows: list[str] = []
    for hunk in file.hunks:
        rows += [""] * (hunk.new_start - 1 - len(rows))
        rows += [line.text for line in hunk.after]
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def _too_long(hunk: Hunk, max_lines: int, max_chars: int) -> bool:
    after = hunk.after
    return len(after) > max_lines or sum(len(line.text) + 1 for line in after) > max_chars


def _parts(
    hunk: Hunk, boundaries: Mapping[int, int], max_lines: int, max_chars: int
) -> Iterator[Hunk]:
    """The hunk itself, or pieces of it that fit, cut where a statement begins."""
    if not _too_long(hunk, max_lines, max_chars):
        yield hunk
        return
    start = 0
    while start < len(hunk.lines):
        stop = _fitting(hunk, start, max_lines, max_chars)
        if stop < len(hunk.lines):
            stop = _best_cut(hunk, start, stop, boundaries)
        yield _slice(hunk, start, stop)
        start = stop


def _fitting(hunk: Hunk, start: int, max_lines: int, max_chars: int) -> int:
    """The end of the longest run from ``start`` that fits; at least one line."""
    count = size = 0
    for index in range(start, len(hunk.lines)):
        line = hunk.lines[index]
        if line.kind is LineKind.DELETED:
            continue
        count, size = count + 1, size + len(line.text) + 1
        if index > start and (count > max_lines or size > max_chars):
            return index
    return len(hunk.lines)


def _best_cut(hunk: Hunk, start: int, stop: int, boundaries: Mapping[int, int]) -> int:
    """The outermost statement start in the second half of a run, the latest of equals."""
    choices = [
        (boundaries[line.new_no], -index)
        for index, line in enumerate(hunk.lines[:stop])
        if index > start + (stop - start) // 2
        and line.new_no is not None
        and line.new_no in boundaries
    ]
    return -min(choices)[1] if choices else stop


def _slice(hunk: Hunk, start: int, stop: int) -> Hunk:
    """Lines ``start``..``stop`` of a hunk as a hunk of its own."""
    lines = hunk.lines[start:stop]
    before = [line.old_no for line in hunk.lines[:stop] if line.old_no is not None]
    after = [line.new_no for line in hunk.lines[:stop] if line.new_no is not None]
    old = [line.old_no for line in lines if line.old_no is not None]
    new = [line.new_no for line in lines if line.new_no is not None]
    # a side without lines starts at the line before the gap, as git writes it
    old_start = old[0] if old else (before[-1] if before else hunk.old_start)
    new_start = new[0] if new else (after[-1] if after else hunk.new_start)
    return Hunk(old_start, len(old), new_start, len(new), lines, hunk.section)


def _target(
    file: ChangedFile,
    language: str,
    hunk: Hunk,
    head: Sequence[str] | None,
    found: Sequence[Definition],
    max_lines: int,
    max_chars: int,
) -> Target:
    after = [line.text for line in hunk.after]
    start = hunk.new_start if after else hunk.new_start + 1
    end = start + len(after) - 1
    touched = [line.new_no for line in hunk.added if line.new_no is not None] or [start]
    around = _around(found, touched[0], touched[-1])
    if head is not None:
        start, end, after = _widen(
            head, start, end, after, around, max_lines=max_lines, max_chars=max_chars
        )
    changed = {line.new_no for line in hunk.added}
    return Target(
        path=file.path,
        language=language,
        hunk=hunk,
        before=tuple(line.text for line in hunk.before),
        after=tuple(after),
        before_start=hunk.old_start if hunk.old_count else hunk.old_start + 1,
        after_start=start,
        changed=tuple(i for i in range(len(after)) if start + i in changed),
        enclosing=around.name if around is not None else "",
        enclosing_kind=around.kind if around is not None else "",
        enclosing_start=around.start_line if around is not None else 0,
        enclosing_end=around.end_line if around is not None else 0,
    )


def _around(found: Sequence[Definition], first: int, last: int) -> Definition | None:
    """The innermost definition that holds the lines ``first``..``last``."""
    holding = [d for d in found if d.start_line <= first and last <= d.end_line]
    return max(holding, key=lambda d: (d.start_line, -d.end_line), default=None)


def _widen(
    head: Sequence[str],
    start: int,
    end: int,
    after: list[str],
    around: Definition | None,
    *,
    max_lines: int,
    max_chars: int,
) -> tuple[int, int, list[str]]:
    """Context on both sides, alternately, up to the enclosing definition and the limits."""
    low = max(1, start - CONTEXT)
    high = min(len(head), end + CONTEXT)
    if around is not None and around.start_line <= start and end <= around.end_line:
        low, high = max(low, around.start_line), min(high, around.end_line)
    count, size = len(after), sum(len(line) + 1 for line in after)
    grew = True
    while grew:
        grew = False
        for number in (start - 1, end + 1):
            if not low <= number <= high or count >= max_lines:
                continue
            text = head[number - 1]
            if size + len(text) + 1 > max_chars:
                continue
            if number < start:
                start = number
                after.insert(0, text)
            else:
                end = number
                after.append(text)
            count, size, grew = count + 1, size + len(text) + 1, True
    return start, end, after
