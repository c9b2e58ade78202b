"""The posted comments as every format needs them: plain text, exact lines, safe names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version

from bot.diff.names import is_utf8
from bot.review.types import JudgedCandidate, ReviewComment, ReviewResult
from models.change import ChangedFile, Coverage, Side
from models.review_types import Replacement, Severity

TOOL = "marginalia"
# what XML 1.0 (section 2.2) cannot hold, and the controls that steer a terminal
_UNFIT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Remark:
    """One posted comment.

    ``path`` is as git has it (``surrogateescape``); ``start`` to ``end`` are head lines (1-based,
    inclusive), ``None`` where the remark is about removed lines, which no format can point at:
    ``text`` then names them. ``fix`` is the replacement as text, its lines joined by the file's
    own line ending, without a final one.
    """

    path: str
    start: int | None
    end: int | None
    severity: Severity
    rule: str
    url: str
    text: str
    fix: str | None
    judged: JudgedCandidate


def version_of_tool() -> str:
    """The installed version."""
    return version(TOOL)


def plain(text: str) -> str:
    """Text that XML, JSON and a log can all hold: anything else is U+FFFD."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def remarks(result: ReviewResult) -> tuple[Remark, ...]:
    """The posted comments in the review's order."""
    files = {file.path: file for file in result.change}
    return tuple(_remark(one, files.get(one.path)) for one in result.review.comments)


def unread(result: ReviewResult) -> tuple[tuple[str, str], ...]:
    """Path and reason of every file that was not read, or not all of it."""
    return tuple(
        (file.path, f"{file.status.value}: {file.note}" if file.note else file.status.value)
        for file in result.coverage
        if file.status is not Coverage.REVIEWED
    )


def _remark(comment: ReviewComment, file: ChangedFile | None) -> Remark:
    candidate = comment.source.candidate
    start: int | None = comment.start_line or comment.line
    end: int | None = comment.line
    text = plain(candidate.text.strip())
    if comment.side is Side.LEFT:
        where = f"line {end}" if start == end else f"lines {start} to {end}"
        text = f"{text} (about removed {where} of the base)"
        start = end = None
    return Remark(
        path=comment.path,
        start=start,
        end=end,
        severity=candidate.severity,
        rule=plain(candidate.origin),
        url=candidate.url if candidate.url.startswith("https://") else "",
        text=text,
        fix=_fix(candidate.replacement, file) if start is not None else None,
        judged=comment.source,
    )


def _fix(replacement: Replacement | None, file: ChangedFile | None) -> str | None:
    if replacement is None:
        return None
    old = None if file is None else file.line_at(Side.RIGHT, replacement.start_line)
    ending = "\r\n" if old is not None and old.text.endswith("\r") else "\n"
    text = ending.join(line.removesuffix("\r") for line in replacement.lines)
    # bytes that are no UTF-8 cannot be written back exactly: no fix is better than another fix
    return text if is_utf8(text) else None
