"""Training examples made from records of the data sets.

One ``Example`` is one input window and its answer. Windows are cut at random around the edit, and
the lines marked as the author's are a random run around it, made the same way for revised and
unrevised windows, so that neither the window nor the marks tell whether there is an edit.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.generators.line_edits import MAX_LINES, LineEdit

MAX_EDITS = 3
MAX_NEW_LINES = 8


@dataclass(frozen=True, slots=True)
class Example:
    """One window, what it is asked, and the answer.

    ``edits`` is the answer of CRB and CRA (empty: nothing to revise), ``reply`` that of RCG.
    ``changed`` and ``removed`` are indices into ``lines``.
    """

    task: str
    language: str
    lines: tuple[str, ...]
    changed: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()
    comment: str = ""
    edits: tuple[LineEdit, ...] = ()
    reply: str | None = None
    origin: str = ""


def diff_edits(before: Sequence[str], after: Sequence[str]) -> tuple[LineEdit, ...]:
    """The smallest line edits that turn ``before`` into ``after``; touching ones are merged."""
    edits: list[LineEdit] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            continue
        if edits and a0 <= edits[-1].end:
            last = edits.pop()
            edits.append(LineEdit(last.first, a1, (*last.lines, *after[b0:b1])))
        else:
            edits.append(LineEdit(a0, a1, tuple(after[b0:b1])))
    return tuple(edits)


def _context(rng: random.Random) -> int:
    return rng.choice((2, 3, 3, 4, 5, 7))


def cut(
    task: str,
    language: str,
    lines: Sequence[str],
    edits: Sequence[LineEdit],
    rng: random.Random,
    *,
    comment: str = "",
    origin: str = "",
    focus: tuple[int, int] | None = None,
) -> Example | None:
    """A window around the edits (or around ``focus`` where there are none), marks included.

    Returns:
        ``None`` where the edits are too many or too long to be an answer.
    """
    if len(edits) > MAX_EDITS or any(len(edit.lines) > MAX_NEW_LINES for edit in edits):
        return None
    if edits:
        first, end = edits[0].first, edits[-1].end
    elif focus is not None:
        first, end = focus
    else:
        return None
    low = max(0, first - _context(rng))
    high = min(len(lines), max(end, first + 1) + _context(rng))
    if high - low > min(40, MAX_LINES) or high <= low:
        return None
    window = lines[low:high]
    if sum(map(len, window)) > 1400:
        return None
    # the author's lines: a run that covers the edit and some of what is around it
    mark_low = max(low, first - min(rng.randrange(6), rng.randrange(6)))
    mark_high = min(high, max(end, first + 1) + min(rng.randrange(6), rng.randrange(6)))
    changed = frozenset(index - low for index in range(mark_low, mark_high))
    if rng.random() < 0.15:
        changed = frozenset()
    moved = tuple(LineEdit(e.first - low, e.end - low, e.lines) for e in edits)
    return Example(
        task, language, tuple(window), changed, comment=comment, edits=moved, origin=origin
    )


_ISSUE = re.compile(r"\s*\(?(?:#|gh-|GH-)\d+\)?")
_TRAILER = re.compile(r"^[A-Z][\w-]+-by:.*$|^(?:Closes|Fixes|Refs?|See)[: ].*$", re.M | re.I)


def clean_message(message: str) -> str:
    """A commit message's subject without issue numbers; empty where it says nothing."""
    subject = _ISSUE.sub("", _TRAILER.sub("", message).strip().split("\n", 1)[0]).strip()
    words = subject.split()
    if len(words) < 3 or subject.lower().startswith(("merge", "bump ", "release", "prepare ")):
        return ""
    return subject[:160]


_BORING = re.compile(
    r"(?i)\b(copyright|licen[cs]e|version|__version__|changelog|release|spdx)\b|\d+\.\d+\.\d+|20\d\d"
)


def is_boring(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether an edit only touches versions, dates or licences, which nobody should suggest."""
    touched = [line for line in (*old, *new) if line.strip()]
    return bool(touched) and all(_BORING.search(line) for line in touched)


_PIECES = re.compile(r"(?<=[;{}])\s+")


def pieces(code: str) -> tuple[str, ...]:
    """One-line Java as pseudo-lines, broken after ``;``, ``{`` and ``}``; ``join`` undoes it."""
    return tuple(piece for piece in _PIECES.split(code.strip()) if piece)


def join(lines: Sequence[str]) -> str:
    """Pseudo-lines as one line again."""
    return " ".join(line for line in lines if line)


_SUGGESTION = re.compile(r"```suggestion[^\n]*\r?\n(.*?)\r?\n?```", re.S)


@dataclass(frozen=True, slots=True)
class HunkTail:
    """What a review comment was written on, read off GitHub's ``diff_hunk`` (its last line)."""

    lines: tuple[str, ...]
    changed: frozenset[int]
    removed: frozenset[int]


def hunk_tail(diff_hunk: str, keep: int) -> HunkTail:
    """The last ``keep`` lines of a hunk, both sides, with the marks of the diff."""
    rows = [row for row in diff_hunk.split("\n")[1:] if row[:1] in "+- "]
    rows = [row for row in rows if row][-keep:]
    return HunkTail(
        tuple(row[1:] for row in rows),
        frozenset(i for i, row in enumerate(rows) if row[0] == "+"),
        frozenset(i for i, row in enumerate(rows) if row[0] == "-"),
    )


def suggestion_of(comment: str) -> tuple[str, tuple[str, ...]] | None:
    """The prose of a comment and the lines of its only ```suggestion block, if it has one."""
    found = _SUGGESTION.findall(comment)
    if len(found) != 1:
        return None
    body = found[0].replace("\r\n", "\n")
    lines = tuple(body.split("\n")) if body else ()
    return " ".join(_SUGGESTION.sub(" ", comment).split()), lines


def suggestion_edit(diff_hunk: str, new: Sequence[str], span: int = 1) -> Example | None:
    """CRA from a suggestion block: it replaces the last ``span`` lines of the hunk's new side."""
    tail = hunk_tail(diff_hunk, 24)
    kept = [i for i in range(len(tail.lines)) if i not in tail.removed]
    if len(kept) < span:
        return None
    lines = [tail.lines[i] for i in kept]
    changed = frozenset(j for j, i in enumerate(kept) if i in tail.changed)
    low = len(lines) - span
    edits = tuple(
        LineEdit(e.first + low, e.end + low, e.lines) for e in diff_edits(lines[low:], list(new))
    )
    if not edits or len(edits) > MAX_EDITS or any(len(e.lines) > MAX_NEW_LINES for e in edits):
        return None
    drop = max(0, len(lines) - 16)
    return (
        Example(
            "cra",
            "python",
            tuple(lines[drop:]),
            frozenset(i - drop for i in changed if i >= drop),
            edits=tuple(LineEdit(e.first - drop, e.end - drop, e.lines) for e in edits),
            origin="pr_reviews",
        )
        if all(e.first >= drop for e in edits)
        else None
    )


def plain_reply(comment: str) -> str | None:
    """A review comment fit to be an RCG answer: prose of 3 to 60 words, no links, no quotes."""
    if "```" in comment or "http" in comment or comment.lstrip().startswith(">"):
        return None
    # names were replaced by @someone in the data: who is asked is nothing to learn
    text = " ".join(word for word in comment.split() if not word.startswith("@"))
    return text if 3 <= len(text.split()) <= 60 else None


def spans(ids: Sequence[int], sentinels: Sequence[int], rng: random.Random) -> Iterator[list[int]]:
    """T5's span corruption: yields the spoiled ids, then the answer (without the end token)."""
    count = max(1, min(len(sentinels), round(len(ids) * 0.15 / 3)))
    starts = sorted(rng.sample(range(max(1, len(ids) - 3)), min(count, max(1, len(ids) - 3))))
    source: list[int] = []
    answer: list[int] = []
    position = 0
    for sentinel, start in zip(sentinels, starts, strict=False):
        if start < position:
            continue
        length = rng.choice((1, 2, 3, 4, 5))
        source += [*ids[position:start], sentinel]
        answer += [sentinel, *ids[start : start + length]]
        position = start + length
    yield source + list(ids[position:])
    yield answer
