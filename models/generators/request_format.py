"""What a causal model reads when a reviewer's comment asks for a revision, and what it answers.

::

    <|im_start|>user
    python
    def total(items):
    <<<
        for i in range(len(items)):
    >>>
            add(items[i])

    use enumerate<|im_end|>
    <|im_start|>assistant
        for i, item in enumerate(items):<|im_end|>

The commented lines stand between marks, some lines of context around them, all moved to the left
as far as they go; the answer is what replaces the commented lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from models.generators.base import Window
from models.generators.smollm2 import END, START, mark_id

BEFORE, AFTER = 8, 4
"""Lines of context that are read above and below the commented ones."""
CHARACTERS = 1200
"""Of the lines that are read; context gives way first."""
COMMENT_CHARACTERS = 400
OPEN, CLOSE = "<<<", ">>>"
MOST_ASKED = 12
"""Commented lines that can be asked about at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """Lines ``first`` to ``end`` (not included) of ``lines`` are commented.

    ``lines`` are those that are read, without the ``margin`` (white space) that all of them have.
    """

    language: str
    lines: tuple[str, ...]
    first: int
    end: int
    comment: str
    margin: str = ""

    @property
    def asked(self) -> tuple[str, ...]:
        """The commented lines."""
        return self.lines[self.first : self.end]

    @property
    def body(self) -> str:
        """The user's turn, without its marks."""
        rows = [
            "user",
            self.language,
            *self.lines[: self.first],
            OPEN,
            *self.asked,
            CLOSE,
            *self.lines[self.end :],
            "",
            self.comment,
        ]
        return "\n".join(rows)

    def ids(self, tokenizer: Tokenizer) -> list[int]:
        """What the model reads. Marks of turns in code or comment are text, and end no turn."""
        start, end = mark_id(tokenizer, START), mark_id(tokenizer, END)
        turn, after, answer = tokenizer.encode_batch([self.body, "\n", "assistant\n"])
        return [start, *turn.ids, end, *after.ids, start, *answer.ids]

    def written(self, revised: Sequence[str]) -> str:
        """The answer that stands for the commented lines' replacement (with its margin)."""
        return "\n".join(line.removeprefix(self.margin) for line in revised)

    def read(self, answer: str) -> tuple[str, ...]:
        """The replacement that an answer stands for, with its margin."""
        if not answer:
            return ()
        return tuple(self.margin + line if line.strip() else line for line in answer.split("\n"))


def request_of(window: Window) -> Request | None:
    """A window with a comment on its ``changed`` lines as a request.

    Returns:
        ``None`` where nothing is commented, or too much.
    """
    if not window.changed or not window.comment.strip():
        return None
    first, end = min(window.changed), max(window.changed) + 1
    if end - first > MOST_ASKED or _size(window.lines[first:end]) > CHARACTERS:
        return None
    low, high = max(0, first - BEFORE), min(len(window.lines), end + AFTER)
    while _size(window.lines[low:high]) > CHARACTERS:
        if low < first:
            low += 1
        else:
            high -= 1
    lines = window.lines[low:high]
    margin = common_margin(lines)
    comment = " ".join(window.comment.split())[:COMMENT_CHARACTERS]
    return Request(
        window.language,
        tuple(line.removeprefix(margin) for line in lines),
        first - low,
        end - low,
        comment,
        margin,
    )


def common_margin(lines: Sequence[str]) -> str:
    """The white space that all lines with text begin with."""
    full = [line for line in lines if line.strip()]
    if not full:
        return ""
    low, high = min(full), max(full)
    size = 0
    while size < min(len(low), len(high)) and low[size] == high[size] and low[size] in " \t":
        size += 1
    return low[:size]


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines))
