"""From a target to the window a generator reads, and from its answer back to lines of the head."""

from __future__ import annotations

from collections.abc import Sequence

from models.change import LineKind
from models.generators.base import Answer, Window
from models.generators.line_edits import MAX_LINES, LineEdit, apply_edits
from models.review_types import Replacement, Target

WINDOW_LINES = 40
WINDOW_CHARACTERS = 1400
CONTEXT = 5
REMARK_ROWS = 14


def revision_window(target: Target) -> tuple[Window, int] | None:
    """The head side around the changed lines, and the head number of its first line.

    The context is trimmed from the far ends to what the model was trained on.

    Returns:
        ``None`` where there is nothing to revise (only deletions) or the changed lines alone are
        longer than a window.
    """
    if not target.changed:
        return None
    low = max(0, target.changed[0] - CONTEXT)
    high = min(len(target.after), target.changed[-1] + 1 + CONTEXT)
    first, last = target.changed[0], target.changed[-1]

    def too_big() -> bool:
        text = target.after[low:high]
        return len(text) > min(WINDOW_LINES, MAX_LINES) or sum(map(len, text)) > WINDOW_CHARACTERS

    while too_big() and (low < first or high > last + 1):
        if high - last - 1 >= first - low:
            high -= 1
        else:
            low += 1
    if too_big():
        return None
    lines = tuple(line.rstrip("\r") for line in target.after[low:high])
    changed = frozenset(i - low for i in target.changed if low <= i < high)
    return Window(target.language, lines, changed), target.after_start + low


def remark_window(target: Target) -> Window | None:
    """Both sides of the hunk up to its last changed line, as a reviewer's comment saw it."""
    rows = list(target.hunk.lines)
    last = max((i for i, line in enumerate(rows) if line.kind is not LineKind.CONTEXT), default=-1)
    rows = rows[max(0, last + 1 - REMARK_ROWS) : last + 1]
    if not rows or sum(len(line.text) for line in rows) > WINDOW_CHARACTERS:
        return None
    return Window(
        target.language,
        tuple(line.text.rstrip("\r") for line in rows),
        frozenset(i for i, line in enumerate(rows) if line.kind is LineKind.ADDED),
        frozenset(i for i, line in enumerate(rows) if line.kind is LineKind.DELETED),
    )


def smallest_edits(before: Sequence[str], after: Sequence[str]) -> tuple[LineEdit, ...]:
    """The smallest line edits that turn ``before`` into ``after``."""
    from models.training.examples import diff_edits

    return diff_edits(before, after)


def replacement_of(window: Window, answer: Answer, start: int) -> Replacement | None:
    """One replacement of head lines that does what an answer says.

    Several edits become one replacement from the first to the last line touched. A replacement
    always keeps or writes at least one line that is not blank, since a suggestion can neither
    replace nothing nor be told apart from one blank line: an insertion or a deletion takes a
    neighbouring line along.

    Args:
        window: what the model read; ``start`` is the head number of its first line.

    Returns:
        ``None`` where the answer changes nothing.
    """
    revised = apply_edits(window.lines, answer.edits)
    edits = smallest_edits(window.lines, revised)
    return replacement_of_edits(window.lines, edits, start)


def replacement_of_edits(
    lines: Sequence[str], edits: Sequence[LineEdit], start: int
) -> Replacement | None:
    """``edits`` over ``lines`` (whose first has the number ``start``) as one replacement."""
    if not edits:
        return None
    first, end = edits[0].first, edits[-1].end
    moved = [LineEdit(e.first - first, e.end - first, e.lines) for e in edits]
    body = apply_edits(list(lines[first:end]), moved)
    while first == end or not any(line.strip() for line in body):
        if first > 0:
            first -= 1
            body.insert(0, lines[first])
        elif end < len(lines):
            body.append(lines[end])
            end += 1
        else:
            return None
        if first == 0 and end == len(lines) and not any(line.strip() for line in body):
            return None
    return Replacement(start + first, start + end - 1, tuple(body))
