"""The code of hunks that people commented on, and revisions from GitHub's suggestion blocks.

A comment's `````suggestion`` block replaces the lines that the comment is on; a stored
``diff_hunk`` ends with the last of them. How many lines are replaced is not stored with the
comment: the block is taken to replace as many as make old and new most alike (of 141 blocks on
held repositories 56 replace several, by this).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from models.change import LineKind
from models.hunk_text import parse_hunks
from models.tasks import END_MARK, START_MARK

_BLOCK = re.compile(r"```suggestion[^\n]*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SuggestedRevision:
    """Code of the hunk's new side, with the replaced lines marked, and the code after it."""

    code: str
    marked_code: str
    revised: str
    comment: str


def suggested_revision(diff_hunk: str, comment: str) -> SuggestedRevision | None:
    """The revision that the only suggestion block of a comment makes, or ``None``."""
    blocks = _BLOCK.findall(comment.replace("\r\n", "\n"))
    if len(blocks) != 1:
        return None
    rows = [row.rstrip("\r") for row in diff_hunk.split("\n")]
    side = [row[1:] for row in rows if row[:1] in ("+", " ")]
    if not side or rows[-1][:1] == "-":
        return None
    block = blocks[0].removesuffix("\n")
    span = replaced_lines(side, block.split("\n"))
    above, old = side[:-span], "\n".join(side[-span:])
    prose = " ".join(_BLOCK.sub(" ", comment.replace("\r\n", "\n")).split())
    return SuggestedRevision(
        "\n".join(side),
        "\n".join([*above, f"{START_MARK} {old} {END_MARK}"]),
        "\n".join([*above, block] if block else above),
        prose,
    )


def replaced_lines(side: Sequence[str], new: Sequence[str]) -> int:
    """How many of the last lines of a hunk's new side a suggestion most likely replaces."""
    text = "\n".join(new)

    def likeness(span: int) -> float:
        old = "\n".join(side[-span:])
        return difflib.SequenceMatcher(None, old, text, autojunk=False).ratio()

    return max(range(1, min(len(side), len(new) + 4) + 1), key=likeness)


def new_side(diff: str) -> str:
    """The code of a hunk, or of several in a row, as it is after the change."""
    return "\n".join(
        line.text
        for hunk in parse_hunks(diff)
        for line in hunk.lines
        if line.kind is not LineKind.DELETED
    )
