"""Examples of the benchmark as the windows that generators read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.generators.base import Window
from models.hunk_text import parse_hunks
from models.tasks import END_MARK, START_MARK, Example, Task
from models.training.abstracted import marked_pieces
from models.training.examples import join, pieces

MAX_LINES = 40


@dataclass(frozen=True, slots=True)
class Cut:
    """An example as a window: what stands before and after it, and how lines join again."""

    window: Window
    before: tuple[str, ...]
    after: tuple[str, ...]
    one_line: bool

    def whole(self, lines: Sequence[str]) -> str:
        """The example's text with the window's lines replaced."""
        every = [*self.before, *lines, *self.after]
        return join(every) if self.one_line else "\n".join(every)


def language_of(example: Example) -> str:
    """The language that a line-edit model is told."""
    if example.abstracted:
        return "abstracted"
    return example.language


def marked_lines(marked_code: str) -> frozenset[int]:
    """Indices of the lines that lie between ``<START>`` and ``<END>``, wholly or in part."""
    head, _, rest = marked_code.partition(START_MARK)
    inner, end, _ = rest.partition(END_MARK)
    first = head.count("\n")
    return frozenset(range(first, first + inner.count("\n") + 1)) if end else frozenset()


def window_of(example: Example, task: Task, *, by_line: bool = False) -> Cut:
    """As much of an example as a generator reads.

    ``by_line``: the marks count in code of several lines as well, as those that a comment is on. A
    line-edit model takes marks there for lines that the author wrote, of which nothing is known.
    """
    code = example.unmarked()
    one_line = "\n" not in code.strip("\n")
    lines = pieces(code) if one_line else tuple(code.split("\n"))
    marked: frozenset[int] = frozenset()
    # CRB is asked before any review: where a comment will stand is not known
    if example.marked_code and task is Task.CRA and (one_line or by_line):
        found = (marked_pieces if one_line else marked_lines)(example.marked_code)
        marked = frozenset(i for i in found if i < len(lines))
    # a window as long as the model reads, around what is marked, else from the top
    low = 0
    if len(lines) > MAX_LINES:
        centre = min(marked) if marked else 0
        low = max(0, min(centre - MAX_LINES // 2, len(lines) - MAX_LINES))
    high = min(len(lines), low + MAX_LINES)
    window = Window(
        language_of(example),
        lines[low:high],
        frozenset(i - low for i in marked if low <= i < high),
        comment=(example.comment or "") if task is Task.CRA else "",
    )
    return Cut(window, lines[:low], lines[high:], one_line)


def remark_window(example: Example) -> Window:
    """What a generator of comments reads of an example: the end of its diff, else its code."""
    if example.diff:
        rows = [line for hunk in parse_hunks(example.diff) for line in hunk.lines][-14:]
        return Window(
            language_of(example),
            tuple(line.text for line in rows),
            frozenset(i for i, line in enumerate(rows) if line.kind.value == "added"),
            frozenset(i for i, line in enumerate(rows) if line.kind.value == "deleted"),
        )
    shown = example.shown()
    lines = pieces(shown) if "\n" not in shown.strip("\n") else tuple(shown.split("\n"))
    return Window(language_of(example), lines[:MAX_LINES])
