"""A lenient reader of bare hunk text: what data sets and ``marginalia score`` hand in.

Text from data sets is rarely what ``git diff`` wrote: the ``@@`` line is missing, its counts are
wrong or omitted, the end is cut off, the blank that marks a context line was trimmed. Every such
text is still read: what is not recognisably added, deleted or a header is context. Real diffs of
files are read by ``bot.diff``, which is strict about bytes and names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from models.change import Hunk, Line, LineKind

# Nine digits hold every real line number; longer runs would only make int() raise.
_HEADER = re.compile(
    r"^@@ ?(?:-([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? ?)?@@ ?(.*)$"
)
_COMBINED = re.compile(
    r"^(@{3,16}) ((?:-[0-9]{1,9}(?:,[0-9]{1,9})? )+)\+([0-9]{1,9})(?:,[0-9]{1,9})? \1 ?(.*)$"
)
_FILE_HEADER = re.compile(
    r"^(?:diff --git |index [0-9a-f]+\.\.|old mode |new mode |new file mode |deleted file mode "
    r"|similarity index |dissimilarity index |Binary files .* differ$"
    r"|rename from |rename to |copy from |copy to |Index: |={60,}$)"
)


@dataclass(slots=True)
class _Draft:
    """A hunk while it is being read; ``parents`` is above 1 for a combined diff's hunk."""

    old_start: int = 1
    new_start: int = 1
    section: str = ""
    parents: int = 1
    stated: tuple[int, int] | None = None
    rows: list[tuple[LineKind, str, bool]] = field(default_factory=list)

    def counts(self) -> tuple[int, int]:
        old = sum(kind is not LineKind.ADDED for kind, _, _ in self.rows)
        new = sum(kind is not LineKind.DELETED for kind, _, _ in self.rows)
        return old, new

    def trim(self) -> None:
        """Drop blank rows at the end that the stated counts do not owe to this hunk."""
        if self.stated is None:
            return
        old, new = self.counts()
        spare = min(old - self.stated[0], new - self.stated[1])
        while spare > 0 and self.rows and self.rows[-1] == (LineKind.CONTEXT, "", False):
            self.rows.pop()
            spare -= 1

    def finish(self) -> Hunk:
        old_count, new_count = self.counts()
        old_first, new_first = self.old_start, self.new_start
        if self.stated is not None:
            # A side stated as empty names the line before the gap.
            old_first += self.stated[0] == 0
            new_first += self.stated[1] == 0
        old_no, new_no = max(old_first, 1), max(new_first, 1)
        old_start = old_no if old_count else old_no - 1
        new_start = new_no if new_count else new_no - 1
        lines: list[Line] = []
        for kind, text, bare in self.rows:
            on_old, on_new = kind is not LineKind.ADDED, kind is not LineKind.DELETED
            lines.append(
                Line(kind, old_no if on_old else None, new_no if on_new else None, text, bare)
            )
            old_no += on_old
            new_no += on_new
        return Hunk(old_start, old_count, new_start, new_count, tuple(lines), self.section)


def _header(row: str) -> _Draft | None:
    if not row.startswith("@@"):
        return None
    match = _HEADER.match(row)
    if match:
        old_start, old_count, new_start, new_count, section = match.groups()
        if old_start is None:
            return _Draft(section=section.strip())
        # git omits a count of 1
        stated = (
            int(old_count) if old_count is not None else 1,
            int(new_count) if new_count is not None else 1,
        )
        return _Draft(int(old_start), int(new_start), section.strip(), stated=stated)
    match = _COMBINED.match(row)
    if match:
        first = int(match[2].split()[0].lstrip("-").split(",")[0])
        return _Draft(first, int(match[3]), match[4].strip(), parents=len(match[1]) - 1)
    return None


def _row(row: str, parents: int) -> tuple[LineKind, str]:
    marks = row[:parents]
    if parents > 1 and marks.strip(" +-"):
        return LineKind.CONTEXT, row
    if "+" in marks:
        return LineKind.ADDED, row[parents:]
    if "-" in marks:
        return LineKind.DELETED, row[parents:]
    return LineKind.CONTEXT, row[parents:] if not marks.strip() else row


def _opens_file(rows: list[str], at: int) -> bool:
    """Whether a file's header begins here (never a hunk's own line)."""
    row = rows[at]
    if _FILE_HEADER.match(row):
        return True
    if row.startswith("--- ") and at + 1 < len(rows) and rows[at + 1].startswith("+++ "):
        return at + 2 >= len(rows) or rows[at + 2].startswith("@@")
    return False


def _read(rows: list[str]) -> Iterator[_Draft]:
    draft: _Draft | None = None
    at = 0
    while at < len(rows):
        row = rows[at]
        opened = _header(row)
        if opened is not None:
            if draft is not None:
                yield draft
            draft = opened
        elif _opens_file(rows, at):
            if draft is not None:
                yield draft
            draft = None
            # "--- x" and "+++ x" of the header are not changed lines
            at += row.startswith("--- ")
        elif row.startswith("\\ "):
            if draft is not None and draft.rows:
                kind, text, _ = draft.rows[-1]
                draft.rows[-1] = (kind, text, True)
        else:
            if draft is None:
                draft = _Draft()
            kind, text = _row(row, draft.parents)
            draft.rows.append((kind, text, False))
        at += 1
    if draft is not None:
        yield draft


def parse_hunks(text: str) -> tuple[Hunk, ...]:
    """Read bare hunk text into hunks; any text is accepted.

    Counts are those of the lines that are there, whatever the ``@@`` line claims; starts are the
    ``@@`` line's, or 1 where there is none. Headers of files are passed over. A text without
    changed lines is one hunk of context; an empty text has none. Lines end at line feeds only.
    """
    rows = text.split("\n")
    if rows and rows[-1] == "":
        rows.pop()
    # A carriage return on the header itself means that the transport added one to every line.
    if any(row.startswith("@@") and row.endswith("\r") for row in rows):
        rows = [row.removesuffix("\r") for row in rows]
    hunks: list[Hunk] = []
    for draft in _read(rows):
        draft.trim()
        if draft.rows:
            hunks.append(draft.finish())
    return tuple(hunks)
