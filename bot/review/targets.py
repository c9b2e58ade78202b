"""Targets: each hunk with the code around it, as a generator sees it, and the way back.

The window is the hunk and as much context as fits, clipped to the enclosing function or type
where one is known. A hunk longer than the input is split where a statement begins (at blank
lines, in a language without a grammar), never inside a line; what no window can hold is counted
in the note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.review.split import Limits, split
from models.change import ChangedFile, Hunk, Line, LineKind
from models.review_types import Target
from models.syntax import Definition, language_of_file
from models.syntax.boundaries import statement_boundaries, tree_boundaries
from models.syntax.definitions import definition_nodes, definitions
from models.syntax.fragment import read_fragments
from models.syntax.section import Section
from models.syntax.table import language_row

MAX_LINES = 60
MAX_CHARS = 3000
# A larger file is not parsed for its outline; its hunks are read on their own.
MAX_FILE_BYTES = 1_000_000


def targets_of(
    file: ChangedFile,
    base: bytes | None,
    head: bytes | None,
    *,
    max_lines: int = MAX_LINES,
    max_chars: int = MAX_CHARS,
) -> tuple[tuple[Target, ...], str]:
    """The targets of one changed file, in order, and a note for its coverage.

    ``base`` and ``head`` are the file's bytes on the two sides, ``None`` where they are not at
    hand; bytes that do not fit the hunks (of another commit, say) are not used. ``max_lines`` and
    ``max_chars`` (line feeds included) bound each side of a window. The note is "" where every
    changed line is in a target, else one phrase that says what was left unread.
    """
    limits = Limits(max_lines, max_chars)
    if not file.hunks:
        return (), ""
    head_lines = _fitting_lines(head, file.hunks, new=True)
    base_lines = _fitting_lines(base, file.hunks, new=False)
    sample = head if head_lines is not None else base if base_lines is not None else None
    language = language_of_file(file.path, sample)
    if head_lines is not None:
        outline = _outline(head or b"", language)
    elif base_lines is not None and all(not hunk.new_count for hunk in file.hunks):
        outline = _outline(base or b"", language)
    else:
        outline = None
    whole_file = _rows(file.hunks, head_lines, base_lines)
    targets: list[Target] = []
    unread = 0
    for index, hunk in enumerate(file.hunks):
        here = outline if outline is not None else _hunk_outline(hunk, language)
        rows: Sequence[Line] = hunk.lines if whole_file is None else whole_file[0]
        first_row = 0 if whole_file is None else whole_file[1][index]
        parts, skipped = split(hunk, here.new_cuts, here.old_cuts, limits)
        unread += skipped
        for start, stop in parts:
            if all(line.kind is LineKind.CONTEXT for line in hunk.lines[start:stop]):
                continue
            whole = start == 0 and stop == len(hunk.lines)
            part = hunk if whole else part_of(hunk, start, stop)
            targets.append(
                _target(file, language, part, rows, first_row + start, here.definitions, limits)
            )
    if not unread:
        return tuple(targets), ""
    word = "line is" if unread == 1 else "lines are"
    return tuple(targets), (
        f"{unread} changed {word} longer than the {max_chars} characters that a model reads"
    )


@dataclass(frozen=True, slots=True)
class _Outline:
    """Definitions, and where statements begin on each side, with their depth."""

    definitions: Sequence[Definition] = ()
    new_cuts: dict[int, int] | None = None
    old_cuts: dict[int, int] | None = None


def _fitting_lines(source: bytes | None, hunks: Sequence[Hunk], *, new: bool) -> list[str] | None:
    """A side's lines, where they are there and hold what the hunks say of them."""
    if source is None:
        return None
    lines = source.decode("utf-8", "surrogateescape").split("\n")
    for hunk in hunks:
        side = hunk.after if new else hunk.before
        start = max((hunk.new_start if new else hunk.old_start) - 1, 0)
        if side and lines[start : start + len(side)] != [line.text for line in side]:
            return None
    if lines and lines[-1] == "":
        lines.pop()
    return lines


def _outline(source: bytes, language: str) -> _Outline:
    if len(source) > MAX_FILE_BYTES:
        return _Outline(new_cuts=statement_boundaries(source, ""))
    found = definitions(source, language) if language_row(language) is not None else []
    cuts = statement_boundaries(source, language)
    # The cuts of a removed file are asked for by base lines.
    return _Outline(found, cuts, cuts)


def _hunk_outline(hunk: Hunk, language: str) -> _Outline:
    """What a hunk alone tells of its definitions and statements."""
    old, new = hunk.before, hunk.after
    texts = tuple("\n".join(line.text for line in side) for side in (old, new))
    old_first = old[0].old_no or 1 if old else 1
    new_first = new[0].new_no or 1 if new else 1
    pieces = read_fragments(texts, language) if len(texts[1]) <= MAX_FILE_BYTES else None
    if pieces is None:
        cuts = [statement_boundaries(text.encode("utf-8", "replace"), "") for text in texts]
        shifts = (old_first - 1, new_first - 1)
        found: list[Definition] = []
    else:
        row = pieces[1].row
        cuts = [tree_boundaries(piece.tree, row) for piece in pieces]
        shifts = (old_first - 1 - pieces[0].offset, new_first - 1 - pieces[1].offset)
        found = _known(
            pieces[1].lines,
            [e.definition for e in definition_nodes(pieces[1].tree, row)],
            pieces[1].offset,
            shifts[1],
        )
    moved = [
        {line + shift: depth for line, depth in side.items() if line + shift > 0}
        for side, shift in zip(cuts, shifts, strict=True)
    ]
    return _Outline(found, moved[1], moved[0])


def _known(lines: int, found: Sequence[Definition], offset: int, shift: int) -> list[Definition]:
    """The definitions that begin and end within the hunk, at the file's own line numbers."""
    return [
        replace(item, start_line=item.start_line + shift, end_line=item.end_line + shift)
        for item in found
        if item.start_line > offset and item.end_line <= offset + lines
    ]


def _rows(
    hunks: Sequence[Hunk], head: Sequence[str] | None, base: Sequence[str] | None
) -> tuple[list[Line], list[int]] | None:
    """The diff's lines with the file's other lines as context, and where each hunk begins in them.

    Both sides of a window are cut out of this one list, so they always belong together. ``None``
    without the file, or where the hunks do not stand in order: then a hunk is read on its own.
    """
    source = head if head is not None else base
    if source is None:
        return None
    rows: list[Line] = []
    places: list[int] = []
    old_no = new_no = 1

    def context(texts: Sequence[str]) -> None:
        nonlocal old_no, new_no
        for text in texts:
            rows.append(Line(LineKind.CONTEXT, old_no, new_no, text))
            old_no, new_no = old_no + 1, new_no + 1

    for hunk in hunks:
        at = new_no if head is not None else old_no
        start, count = (
            (hunk.new_start, hunk.new_count)
            if head is not None
            else (hunk.old_start, hunk.old_count)
        )
        until = start if count else start + 1
        if until < at or until > len(source) + 1:
            return None
        context(source[at - 1 : until - 1])
        places.append(len(rows))
        rows.extend(hunk.lines)
        old_no, new_no = old_no + hunk.old_count, new_no + hunk.new_count
    context(source[(new_no if head is not None else old_no) - 1 :])
    return rows, places


def part_of(hunk: Hunk, start: int, stop: int) -> Hunk:
    """Lines ``start``..``stop`` (0-based, end excluded) of a hunk as a hunk of its own."""
    lines = hunk.lines[start:stop]
    above = hunk.lines[:start]
    old_no = (hunk.old_start if hunk.old_count else hunk.old_start + 1) + sum(
        line.kind is not LineKind.ADDED for line in above
    )
    new_no = (hunk.new_start if hunk.new_count else hunk.new_start + 1) + sum(
        line.kind is not LineKind.DELETED for line in above
    )
    old_count = sum(line.kind is not LineKind.ADDED for line in lines)
    new_count = sum(line.kind is not LineKind.DELETED for line in lines)
    # A side without lines has the number of the line before the gap, as git writes it.
    return Hunk(
        old_no if old_count else old_no - 1,
        old_count,
        new_no if new_count else new_no - 1,
        new_count,
        lines,
        hunk.section,
    )


def _target(
    file: ChangedFile,
    language: str,
    hunk: Hunk,
    rows: Sequence[Line],
    first: int,
    found: Sequence[Definition],
    limits: Limits,
) -> Target:
    around = _around(found, hunk)
    low, high = _window(rows, first, first + len(hunk.lines), around, limits)
    window = rows[low:high]
    before = [line for line in window if line.kind is not LineKind.ADDED]
    after = [line for line in window if line.kind is not LineKind.DELETED]
    mine = {line.new_no for line in hunk.added}
    section = Section.read(hunk.section)
    if around is None and section.kind not in ("", "variable", "call") and _indented(hunk):
        # Only git's word for it, without the lines.
        name, kind, start, end = section.name, section.kind, 0, 0
    elif around is None:
        name, kind, start, end = "", "", 0, 0
    else:
        name, kind = around.name, around.kind
        start, end = around.start_line, around.end_line
    return Target(
        path=file.path,
        language=language,
        hunk=hunk,
        before=tuple(line.text for line in before),
        after=tuple(line.text for line in after),
        before_start=before[0].old_no or 1 if before else hunk.old_start + 1,
        after_start=after[0].new_no or 1 if after else hunk.new_start + 1,
        changed=tuple(i for i, line in enumerate(after) if line.new_no in mine),
        enclosing=name,
        enclosing_kind=kind,
        enclosing_start=start,
        enclosing_end=end,
    )


def _indented(hunk: Hunk) -> bool:
    first = next((line.text for line in hunk.lines if line.text.strip()), "")
    return first[:1] in (" ", "\t")


def _around(found: Sequence[Definition], hunk: Hunk) -> Definition | None:
    """The innermost definition that holds all that the hunk changes on the head side."""
    numbers = [line.new_no for line in hunk.added if line.new_no is not None]
    if not numbers:
        # Deletions stand between the head lines around them.
        at = hunk.new_start if hunk.new_count == 0 else None
        for line in hunk.lines:
            if line.kind is LineKind.DELETED:
                break
            at = line.new_no if line.new_no is not None else at
        numbers = [max(at if at is not None else hunk.new_start, 1)]
    first, last = numbers[0], numbers[-1]
    holding = [d for d in found if d.start_line <= first and last <= d.end_line]
    return max(holding, key=lambda d: (d.start_line, -d.end_line), default=None)


def _window(
    rows: Sequence[Line], low: int, high: int, around: Definition | None, limits: Limits
) -> tuple[int, int]:
    """Rows ``low``..``high`` grown on both sides in turn, to the definition and the limits."""
    lines = [0, 0]
    chars = [0, 0]

    def add(line: Line) -> bool:
        sides = (line.kind is not LineKind.ADDED, line.kind is not LineKind.DELETED)
        size = len(line.text) + 1
        if any(
            on and (lines[i] + 1 > limits.lines or chars[i] + size > limits.chars)
            for i, on in enumerate(sides)
        ):
            return False
        for i, on in enumerate(sides):
            lines[i] += on
            chars[i] += size * on
        return True

    for line in rows[low:high]:
        on_old, on_new = line.kind is not LineKind.ADDED, line.kind is not LineKind.DELETED
        lines[0], chars[0] = lines[0] + on_old, chars[0] + (len(line.text) + 1) * on_old
        lines[1], chars[1] = lines[1] + on_new, chars[1] + (len(line.text) + 1) * on_new

    def wanted(at: int) -> bool:
        if not 0 <= at < len(rows):
            return False
        number = rows[at].new_no
        return around is None or number is None or around.start_line <= number <= around.end_line

    up = down = True
    while up or down:
        if up:
            up = wanted(low - 1) and add(rows[low - 1])
            low -= up
        if down:
            down = wanted(high) and add(rows[high])
            high += down
    return low, high
