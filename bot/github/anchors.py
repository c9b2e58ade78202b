"""Whether GitHub would take a comment's place, asked of the change before anything is sent.

One entry on a line outside the hunks refuses the whole review, and the answer does not say which
(trouble 1 of the field's list); so does ``start_line == line`` (19).
"""

from __future__ import annotations

from models.change import Change, Hunk, Side


def anchor_problem(
    change: Change, path: str, side: Side, start_line: int | None, line: int
) -> str | None:
    """Why a comment cannot stand on ``start_line``..``line`` (1-based), or ``None`` if it can.

    Both ends must be shown by one and the same hunk on the comment's side; ``start_line`` must be
    smaller than ``line`` where it is given at all.
    """
    file = change.file(path)
    if file is None:
        return f"{path} is not in the change"
    if not file.hunks:
        return f"{path} has no lines to comment on"
    if start_line is not None and start_line >= line:
        return f"first line {start_line} is not before last line {line}"
    first = line if start_line is None else start_line
    for hunk in file.hunks:
        if _shows(hunk, side, line):
            if _shows(hunk, side, first):
                return None
            return f"lines {first} to {line} of {path} reach out of their hunk"
    where = "the head" if side is Side.RIGHT else "the base"
    return f"line {line} of {where}'s {path} is not in the change"


def _shows(hunk: Hunk, side: Side, number: int) -> bool:
    start, count = (
        (hunk.old_start, hunk.old_count) if side is Side.LEFT else (hunk.new_start, hunk.new_count)
    )
    return start <= number < start + count
