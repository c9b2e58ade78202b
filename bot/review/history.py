"""What people said of similar code in this repository's past, as candidates (RCG by retrieval).

``marginalia learn`` keeps people's remarks with the lines that they were made on. A remark is
found again for each run of changed lines: BM25 over names' subwords, then the ratio of matching
characters (Hong et al., CommentFinder, 2022; ``models.systems.retrieval``). What is found is a
candidate like any other: it is graded, and passes the gate or does not. Words that belong to the
old conversation alone (a suggestion block, a person who is addressed, another pull request's
number) are never said again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rapidfuzz import fuzz

from bot.learn.people import SOMEONE
from bot.learn.remarks import Remark, is_small_talk
from bot.learn.store import ORIGIN
from models.change import Hunk, Line, LineKind, Side
from models.review_types import Candidate, CandidateKind, Target
from models.syntax import language_of
from models.tasks import Example, Task

ROWS = 12
"""Rows of a hunk, up to the commented one, in which two places are compared."""
STEP = 6
"""In a longer run of changed rows a place is looked at every so many."""
MOST_PLACES = 16
"""Places of one hunk that are looked at."""
NEAR = 5
"""Remarks looked at more closely for each place."""
ANSWERS = 3
"""Remarks proposed for one hunk, the most similar code's first."""
LEAST_ALIKE = 0.35
"""Below this similarity nothing is proposed: the code is another."""
LEAST_CHARACTERS = 24
"""Fewer characters of code say nothing of where they stand."""

_SIGN = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.DELETED: "-"}
_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"(?<![\w&])#\d+\b|\b(?:GH|PR)[- ]?#?\d+\b|\b[0-9a-f]{7,40}\b")


class History(Protocol):
    """The remarks of one repository, as the pipeline asks for them."""

    def candidates(self, targets: Sequence[Target]) -> list[Candidate]:
        """A few a target: remarks on the most similar code."""
        ...


def sayable(comment: str) -> str:
    """What of a past remark can be said again, on one paragraph; "" where nothing can.

    Code blocks and quotes are left out; a remark that speaks to someone or of another change is
    none.
    """
    words = " ".join(_QUOTE.sub(" ", _BLOCK.sub(" ", comment)).split())
    addressed = SOMEONE in words or re.search(r"\bsomeone\b", words)
    if addressed or _ELSEWHERE.search(words) or is_small_talk(words):
        return ""
    return words


@dataclass(frozen=True, slots=True)
class Found:
    """A past remark: its words, how alike its code is (0 to 1), and the line here."""

    words: str
    alike: float
    line: Line


class PastRemarks:
    """An index of people's remarks on one repository; safe to share between threads."""

    def __init__(self, remarks: Sequence[Remark]) -> None:
        from models.systems.retrieval import Retrieval

        # it tells of every step, whatever the level that was asked for
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        self._rows: dict[str, tuple[str, ...]] = {}
        examples = []
        for one in remarks:
            words, rows = sayable(one.comment), _tail(one.diff_hunk)
            if not words or len("".join(rows)) < LEAST_CHARACTERS:
                continue
            self._rows[one.key] = rows
            examples.append(
                Example(
                    one.key,
                    diff="\n".join(rows),
                    comment=words,
                    language=language_of(one.path) or "",
                )
            )
        self._index: Retrieval | None = None
        if examples:
            self._index = Retrieval()
            self._index.fit(Task.RCG, examples)

    def __len__(self) -> int:
        return len(self._rows)

    def candidates(self, targets: Sequence[Target]) -> list[Candidate]:
        """At most ``ANSWERS`` a target; the gate lets at most one of those on a line stand."""
        return [
            _candidate(target, one)
            for target in targets
            for one in self.nearest(target.hunk, target.language)
            if one.alike >= LEAST_ALIKE
        ]

    def nearest(self, hunk: Hunk, language: str) -> list[Found]:
        """What was said of the most similar code, best first; each text once."""
        if self._index is None:
            return []
        best: dict[str, Found] = {}
        for end in _places(hunk):
            rows = _written(hunk.lines[max(0, end + 1 - ROWS) : end + 1])
            text = "\n".join(rows)
            if len(text) < LEAST_CHARACTERS:
                continue
            for example, _ in self._index.nearest(Example("", diff=text), NEAR):
                if example.language and language and example.language != language:
                    continue
                place, alike = self._closest(hunk, end, self._rows[example.id])
                words = example.comment or ""
                if words not in best or alike > best[words].alike:
                    best[words] = Found(words, alike, hunk.lines[place])
        return sorted(best.values(), key=lambda one: -one.alike)[:ANSWERS]

    def _closest(self, hunk: Hunk, end: int, known: tuple[str, ...]) -> tuple[int, float]:
        """The changed row near ``end`` whose surroundings are most like the commented ones."""
        last, text = known[-1], "\n".join(known)
        rows = [
            at
            for at in range(max(0, end + 1 - STEP), end + 1)
            if hunk.lines[at].kind is not LineKind.CONTEXT
        ]
        chosen = max(rows, key=lambda at: (fuzz.ratio(_written([hunk.lines[at]])[0], last), at))
        mine = "\n".join(_written(hunk.lines[max(0, chosen + 1 - ROWS) : chosen + 1]))
        return chosen, fuzz.ratio(mine, text) / 100


def _candidate(target: Target, found: Found) -> Candidate:
    line = found.line
    side = Side.LEFT if line.new_no is None else Side.RIGHT
    number = line.new_no or line.old_no or 0
    return Candidate(
        CandidateKind.COMMENT,
        ORIGIN,
        target.path,
        side,
        number,
        number,
        found.words,
        confidence=round(found.alike, 4),
    )


def _places(hunk: Hunk) -> list[int]:
    """Rows at which a reviewer may have stopped: ends of changed runs, and steps in long ones."""
    changed = [line.kind is not LineKind.CONTEXT for line in hunk.lines]
    places, run = [], 0
    for at, is_changed in enumerate(changed):
        run = run + 1 if is_changed else 0
        ends = is_changed and (at + 1 == len(changed) or not changed[at + 1])
        if ends or (run and run % STEP == 0):
            places.append(at)
    if len(places) > MOST_PLACES:
        places = [places[len(places) * i // MOST_PLACES] for i in range(MOST_PLACES)]
    return places


def _written(lines: Sequence[Line]) -> list[str]:
    return [_SIGN[line.kind] + line.text.rstrip() for line in lines]


def _tail(diff_hunk: str) -> tuple[str, ...]:
    """The last rows of a stored hunk, which ends with the commented line."""
    rows = [row.rstrip() for row in diff_hunk.rstrip("\n").split("\n") if row[:2] != "@@"]
    return tuple(rows[-ROWS:])
