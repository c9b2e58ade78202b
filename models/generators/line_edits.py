"""The text format of the shipped model: numbered lines in, line edits out.

A window of code is written as ``<task><language><l0>first line<l1>second line...<lN>``: the line
marker stands where the line feed was, so that numbering the lines costs no tokens. A line that
the author of the change wrote carries ``<+>`` after its marker. The answer is ``<none>`` ("nothing
to revise") or a list of edits, each ``<la><lb>`` and the new lines (each closed by a line feed)
that replace lines a to b, b excluded: ``<l3><l3>`` inserts before line 3, ``<l3><l5>`` alone
deletes lines 3 and 4. Edits ascend and do not touch. Source text can never produce a marker: it is
encoded with the tokenizer's special tokens switched off, so a hostile file that spells ``<none>``
is read as those six characters.

Claims about a change (task ``claims``) are asked for as a comment is, with that one word as the
message: so a checkpoint that was made before them can learn them with the vocabulary that it has.
The comment that may have led to a revision (task ``said``) is asked for with the edits, as an
answer writes them, in the message's place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_LINES = 64
"""A window has at most this many lines; ``<l64>`` marks the end of a full one."""

CLAIMS = "claims"
"""The task whose answer is claims about a change, one a line; it has no token of its own."""
SAID = "said"
"""The task whose answer is what a reviewer said before code was revised in a given way."""
TASKS = ("crb", "cra", "rcg", "fill")
LANGUAGES = (
    "python",
    "javascript",
    "typescript",
    "java",
    "go",
    "rust",
    "c",
    "cpp",
    "csharp",
    "ruby",
    "php",
    "kotlin",
    "scala",
    "abstracted",
    "other",
)
SENTINELS = 16
_FIXED = ("<pad>", "</s>", "<unk>", "<none>", "<+>", "<->", "<msg>", "<mark>", "</mark>")


def special_tokens() -> list[str]:
    """All special tokens in the order of their ids: pad 0, end 1, unknown 2, and on."""
    return [
        *_FIXED,
        *(f"<{task}>" for task in TASKS),
        *(f"<{language}>" for language in LANGUAGES),
        *(f"<l{number}>" for number in range(MAX_LINES + 1)),
        *(f"<extra_id_{number}>" for number in range(SENTINELS)),
    ]


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Lines ``first`` (0-based) up to, not including, ``end`` of a window become ``lines``."""

    first: int
    end: int
    lines: tuple[str, ...]


def apply_edits(lines: Sequence[str], edits: Iterable[LineEdit]) -> list[str]:
    """The lines after the edits, which must ascend without overlap.

    Raises:
        ValueError: an edit lies outside the lines or overlaps the one before it.
    """
    result: list[str] = []
    position = 0
    for edit in edits:
        if not position <= edit.first <= edit.end <= len(lines):
            raise ValueError(f"edit {edit.first}..{edit.end} does not fit {len(lines)} lines")
        result += lines[position : edit.first]
        result += edit.lines
        position = edit.end
    return result + list(lines[position:])


class EditCodec:
    """Token ids of windows, comments and edits, and back.

    Args:
        tokenizer: a ``tokenizers.Tokenizer`` whose vocabulary holds ``special_tokens()``.

    Raises:
        ValueError: the vocabulary lacks one of them.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        tokenizer.encode_special_tokens = True
        self.ids: dict[str, int] = {}
        for token in special_tokens():
            number = tokenizer.token_to_id(token)
            if number is None:
                raise ValueError(f"the tokenizer has no {token}: it was not made for line edits")
            self.ids[token] = number
        self.pad = self.ids["<pad>"]
        self.end = self.ids["</s>"]
        self.none = self.ids["<none>"]
        self.line_ids = [self.ids[f"<l{number}>"] for number in range(MAX_LINES + 1)]
        self._line_of = {number: index for index, number in enumerate(self.line_ids)}
        self.special = frozenset(self.ids.values())

    def text_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of plain texts; nothing in them is read as a special token."""
        return [
            row.ids
            for row in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ]

    def text(self, ids: Sequence[int]) -> str:
        """The text of plain ids, byte for byte (invalid UTF-8 becomes U+FFFD)."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def source(
        self,
        task: str,
        language: str,
        lines: Sequence[str],
        changed: Iterable[int] = (),
        comment: str = "",
        *,
        removed: Iterable[int] = (),
    ) -> list[int]:
        """Ids of a model input.

        Args:
            task: one of ``TASKS``, or ``CLAIMS``.
            language: one of ``LANGUAGES``; anything else is ``other``.
            lines: at most ``MAX_LINES`` lines of code without line endings.
            changed: indices of lines that the author of the change wrote.
            comment: a reviewer's comment (CRA).
            removed: indices of lines that the change removed (RCG shows both sides).
        """
        if len(lines) > MAX_LINES:
            raise ValueError(f"{len(lines)} lines; a window holds {MAX_LINES} at most")
        if task == CLAIMS:
            task, comment = "rcg", CLAIMS
        tag = f"<{language}>" if language in LANGUAGES else "<other>"
        marked, gone = frozenset(changed), frozenset(removed)
        texts = self.text_ids([comment, *lines])
        ids = [self.ids[f"<{task}>"], self.ids[tag]]
        if comment:
            ids += [self.ids["<msg>"], *texts[0]]
        for index, text in enumerate(texts[1:]):
            ids.append(self.line_ids[index])
            if index in marked:
                ids.append(self.ids["<+>"])
            elif index in gone:
                ids.append(self.ids["<->"])
            ids += text
        ids += [self.line_ids[len(lines)], self.end]
        return ids

    def said_source(
        self,
        language: str,
        lines: Sequence[str],
        changed: Iterable[int],
        edits: Sequence[LineEdit],
    ) -> list[int]:
        """Ids of the question what comment led from these lines to these edits (``SAID``).

        Args:
            language: as in ``source``.
            lines: of the code before the revision.
            changed: indices of the lines that the comment stands at.
            edits: the revision.
        """
        task, tag, *code = self.source("rcg", language, lines, changed)
        return [task, tag, self.ids["<msg>"], *self.edits(edits)[:-1], *code]

    def edits(self, edits: Sequence[LineEdit]) -> list[int]:
        """Ids of an answer, the end token included; no edits is ``<none>``."""
        if not edits:
            return [self.none, self.end]
        ids: list[int] = []
        for edit in edits:
            ids += [self.line_ids[edit.first], self.line_ids[edit.end]]
            ids += self.text_ids(["".join(line + "\n" for line in edit.lines)])[0]
        return [*ids, self.end]

    def parse(self, ids: Sequence[int], line_count: int) -> tuple[LineEdit, ...] | None:
        """The edits that ids say, or ``None`` where they are not a well-formed answer.

        Ids after the first end token are ignored. ``<none>`` gives an empty tuple.
        """
        body = list(ids)
        if self.end in body:
            body = body[: body.index(self.end)]
        if body == [self.none]:
            return ()
        edits: list[LineEdit] = []
        position, floor = 0, 0
        while position < len(body):
            if position + 1 >= len(body):
                return None
            first, end = self._line_of.get(body[position]), self._line_of.get(body[position + 1])
            if first is None or end is None or not floor <= first <= end <= line_count:
                return None
            position += 2
            stop = position
            while stop < len(body) and body[stop] not in self._line_of:
                stop += 1
            content = body[position:stop]
            if any(number in self.special for number in content):
                return None
            text = self.text(content)
            if text and not text.endswith("\n"):
                return None
            lines = tuple(text[:-1].split("\n")) if text else ()
            if first == end and not lines:
                return None
            edits.append(LineEdit(first, end, lines))
            position, floor = stop, end + 1
        return tuple(edits) if edits else None

    def parts(self, ids: Sequence[int], tokens: Sequence[float]) -> tuple[float, ...]:
        """The probability of each edit of a well-formed answer, given those before it.

        Args:
            ids: the answer's ids.
            tokens: each id's log-probability.
        """
        sums: list[float] = []
        markers = 0
        for number, value in zip(ids, tokens, strict=True):
            if number == self.end:
                break
            if number in self._line_of:
                if markers % 2 == 0:
                    sums.append(0.0)
                markers += 1
            if sums:
                sums[-1] += value
        return tuple(math.exp(value) for value in sums)

    def line_of(self, token: int) -> int | None:
        """The line that a marker names; ``None`` for every other token."""
        return self._line_of.get(token)

    @property
    def newline(self) -> int:
        """The id of a line feed, which the tokenizer keeps a token of its own."""
        ids = self.text_ids(["\n"])[0]
        if len(ids) != 1:
            raise ValueError("the tokenizer has no token for a line feed")
        return ids[0]
