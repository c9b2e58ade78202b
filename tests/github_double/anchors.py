"""Where a review comment may stand, and where it goes when the code moves on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.github_double.git_store import GitRepo

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a file's patch with its numbers on both sides and its position."""

    sign: str
    old: int | None
    new: int | None
    hunk: int
    position: int


def read_patch(patch: str) -> list[DiffLine]:
    """The lines of one file's patch; positions count from the line under the first ``@@``."""
    out: list[DiffLine] = []
    old = new = 0
    hunk = -1
    for position, row in enumerate(patch.split("\n")):
        header = _HUNK.match(row)
        if header:
            old, new = int(header[1]), int(header[3])
            hunk += 1
        elif hunk < 0:
            continue
        elif row.startswith("+"):
            out.append(DiffLine("+", None, new, hunk, position))
            new += 1
        elif row.startswith("-"):
            out.append(DiffLine("-", old, None, hunk, position))
            old += 1
        elif not row.startswith("\\"):
            out.append(DiffLine(" ", old, new, hunk, position))
            old, new = old + 1, new + 1
    return out


def find(lines: list[DiffLine], side: str, number: int) -> DiffLine | None:
    """The diff's line with this number on this side."""
    for line in lines:
        if (line.old if side == "LEFT" else line.new) == number:
            return line
    return None


def at_position(lines: list[DiffLine], position: int) -> DiffLine | None:
    """The diff's line at this position."""
    return next((line for line in lines if line.position == position), None)


def hunk_to(patch: str, line: DiffLine) -> str:
    """The part of the patch that a comment shows: its hunk down to its line."""
    rows = patch.split("\n")
    start = line.position
    while start > 0 and not rows[start].startswith("@@ "):
        start -= 1
    return "\n".join(rows[start : line.position + 1])


def moved_line(git: GitRepo, old: str, new: str, path: str, number: int) -> int | None:
    """Where a line of a file at one commit stands at another; ``None`` if it was changed."""
    if old == new:
        return number
    diff = git.git(
        "diff", "--no-color", "--no-renames", "--unified=0", old, new, "--", f":(literal){path}"
    ).decode(errors="surrogateescape")
    if "\ndeleted file mode" in diff:
        return None
    shift = 0
    for header in re.finditer(rf"^{_HUNK.pattern}", diff, re.MULTILINE):
        start = int(header[1])
        count = int(header[2]) if header[2] is not None else 1
        added = int(header[4]) if header[4] is not None else 1
        if count == 0:
            if start < number:
                shift += added
        elif start <= number < start + count:
            return None
        elif start + count <= number:
            shift += added - count
    return number + shift
