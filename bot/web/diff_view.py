"""A review's diff with its candidates at their lines, as rows for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from bot.store.tables import CandidateRow
from models.change import ChangedFile, Hunk, Line, LineKind, Side

MOST_LINES = 1_200
"""Lines of diff on one page; hunks with candidates come before hunks without."""
_CLASSES = {LineKind.CONTEXT: "same", LineKind.ADDED: "add", LineKind.DELETED: "del"}
_SIGNS = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.DELETED: "−"}


@dataclass(frozen=True, slots=True)
class DiffRow:
    """Lines as table rows, already HTML, and the candidates that end at the last of them.

    A template's own loop over lines would be four times as slow, and they are most of the page.
    """

    html: Markup
    candidates: tuple[CandidateRow, ...] = ()


@dataclass(frozen=True, slots=True)
class HunkView:
    """A hunk: its ``@@`` line and its rows."""

    header: str
    rows: tuple[DiffRow, ...]


@dataclass(slots=True)
class FileView:
    """A file: its hunks, how many were left out, and candidates whose line is in none."""

    path: str
    old_path: str
    status: str
    hunks: list[HunkView] = field(default_factory=list)
    left_out: int = 0
    elsewhere: list[CandidateRow] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Candidates of this file."""
        inside = sum(len(row.candidates) for hunk in self.hunks for row in hunk.rows)
        return inside + len(self.elsewhere)


def views(files: Sequence[ChangedFile], candidates: Sequence[CandidateRow]) -> list[FileView]:
    """Every file of a change, candidates laid at the last line that they are about."""
    by_path: dict[str, list[CandidateRow]] = {}
    for one in candidates:
        by_path.setdefault(one.path, []).append(one)
    shown = _chosen(files, by_path)
    made = []
    for file in files:
        wanted = by_path.pop(file.path, [])
        old = file.old_path if file.old_path not in (None, file.path) else ""
        view = FileView(file.path, old or "", file.status.value)
        placed: set[int] = set()
        for hunk in file.hunks:
            if id(hunk) not in shown:
                view.left_out += 1
                continue
            view.hunks.append(HunkView(hunk.header, tuple(_rows(hunk, wanted, placed))))
        view.elsewhere = [one for one in wanted if one.id not in placed]
        made.append(view)
    for path, wanted in by_path.items():
        made.append(FileView(path, "", "", elsewhere=wanted))
    return made


def _chosen(files: Sequence[ChangedFile], by_path: dict[str, list[CandidateRow]]) -> set[int]:
    """The hunks that fit on the page, by identity."""
    hunks = [(file, hunk) for file in files for hunk in file.hunks]
    hunks.sort(key=lambda pair: not any(_inside(pair[1], c) for c in by_path.get(pair[0].path, ())))
    left = MOST_LINES
    chosen: set[int] = set()
    for _, hunk in hunks:
        if left >= len(hunk.lines) or not chosen:
            left -= len(hunk.lines)
            chosen.add(id(hunk))
    return chosen


def _inside(hunk: Hunk, candidate: CandidateRow) -> bool:
    old = candidate.side == Side.LEFT
    start = hunk.old_start if old else hunk.new_start
    count = hunk.old_count if old else hunk.new_count
    return start <= candidate.line < start + count


def _rows(hunk: Hunk, wanted: Sequence[CandidateRow], placed: set[int]) -> list[DiffRow]:
    at: dict[tuple[str, int], list[CandidateRow]] = {}
    for one in wanted:
        if _inside(hunk, one):
            at.setdefault((one.side, one.line), []).append(one)
    made: list[DiffRow] = []
    run: list[str] = []
    for line in hunk.lines[:MOST_LINES]:
        here: list[CandidateRow] = []
        if at:
            if line.old_no is not None:
                here += at.pop((Side.LEFT.value, line.old_no), [])
            if line.new_no is not None:
                here += at.pop((Side.RIGHT.value, line.new_no), [])
            placed.update(one.id for one in here)
        run.append(_row(line))
        if here:
            made.append(DiffRow(Markup("\n".join(run)), tuple(here)))  # noqa: S704 (escaped)
            run = []
    made.append(DiffRow(Markup("\n".join(run))))  # noqa: S704 (escaped)
    return made


def _row(line: Line) -> str:
    text = escape(line.text.removesuffix("\r"))
    if line.no_newline:
        text += "  (no newline at the end)"
    return (
        f'<tr class="{_CLASSES[line.kind]}"><td class="no old">{line.old_no or ""}</td>'
        f'<td class="no">{line.new_no or ""}</td><td class="sign">{_SIGNS[line.kind]}</td>'
        f'<td class="text">{text}</td></tr>'
    )
