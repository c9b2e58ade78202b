"""Retrieval: the comments and edits that people made on similar code.

Hong et al. (CommentFinder, 2022) showed that the comment of the most similar method is a strong
answer. Candidates come from BM25 over the code's subwords; the nearest of them are ordered by
the sentence encoder, or by the ratio of matching characters where there is none. A team's own
history is an index like any other.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import bm25s
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from models.systems.base import FitReport, Progress, System, answer_where_possible
from models.tasks import Example, Prediction, Task

Ranker = Literal["characters", "encoder"]
Similarity = Callable[[str, Sequence[str]], list[float]]

_SUBWORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TOKEN = re.compile(r"\S+")
_POOL = 50
_CONTEXT = 2
_FILE = "index.jsonl.gz"


def subwords(text: str) -> list[str]:
    """The words inside a text's names, lower-cased: ``getUserId`` gives get, user and id."""
    return [piece.lower() for piece in _SUBWORD.findall(text)]


class Retrieval(System):
    """An index of examples; fitting is indexing."""

    kind = "retrieval"
    tasks = frozenset(Task)

    def __init__(self, ranker: Ranker = "characters") -> None:
        super().__init__()
        self.ranker: Ranker = ranker
        self._examples: list[Example] = []
        self._bm25: Any = None
        self._similarity: Similarity | None = None

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """Index ``train``; the other arguments have nothing to do here."""
        self.task = task
        self._index(self.usable(task, train))
        self.report = FitReport(0, 0.0, None, 0, 0.0, len(self._examples))
        return self.report

    def _index(self, examples: list[Example]) -> None:
        self._examples = examples
        self._bm25 = bm25s.BM25()
        self._bm25.index(
            # an empty document has no vocabulary of its own
            [subwords(self._asked(example)) or [""] for example in examples],
            show_progress=False,
        )

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """The answers of the nearest examples; a revision that fits nowhere leaves the code."""
        task = self.ready()
        return answer_where_possible(
            task, examples, lambda some: [self._answer(task, one, beams) for one in some]
        )

    def _asked(self, example: Example) -> str:
        """What two examples are alike in: the code, and what else the task shows."""
        shown = example.asked(self.ready())
        return f"{example.comment or ''}\n{shown}" if self.task is Task.CRA else shown

    def nearest(self, example: Example, size: int) -> list[tuple[Example, float]]:
        """The ``size`` most similar examples with their similarity (0 to 1), best first."""
        text = self._asked(example)
        pool = min(_POOL, len(self._examples))
        places, _ = self._bm25.retrieve(
            [subwords(text) or [""]], k=pool, show_progress=False, n_threads=0
        )
        found = [self._examples[int(place)] for place in places[0]]
        scores = self._rank()(text, [self._asked(one) for one in found])
        order = sorted(range(len(found)), key=lambda place: -scores[place])
        return [(found[place], scores[place]) for place in order[:size]]

    def _rank(self) -> Similarity:
        if self._similarity is None:
            self._similarity = _by_encoder() if self.ranker == "encoder" else _by_characters
        return self._similarity

    def _answer(self, task: Task, example: Example, beams: int) -> Prediction:
        near = self.nearest(example, max(beams, 1 if task is Task.RCG else _POOL))
        answers: list[tuple[str, float]] = []
        for neighbour, score in near:
            if task is Task.RCG:
                text = neighbour.comment or ""
            else:
                moved = transfer(neighbour.unmarked(), neighbour.revised or "", example.unmarked())
                if moved is None:
                    continue
                text = moved
            if text not in [known for known, _ in answers]:
                answers.append((text, score))
        if not answers:
            answers = [(example.unmarked(), 0.0)]
        texts = tuple(text for text, _ in answers[:beams])
        return Prediction(texts[0], texts, answers[0][1])

    def write(self, folder: Path) -> Mapping[str, Any]:
        """The indexed examples; the index is made again on reading."""
        with gzip.open(folder / _FILE, "wt", encoding="utf-8") as lines:
            for example in self._examples:
                lines.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
        return {
            "ranker": self.ranker,
            "examples": len(self._examples),
            "task": self.ready().value,
        }

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> Retrieval:
        """See ``System.read``."""
        system = cls(details["ranker"])
        system.task = Task(details["task"])
        with gzip.open(folder / _FILE, "rt", encoding="utf-8") as lines:
            system._index([Example(**json.loads(line)) for line in lines])
        return system


def transfer(before: str, after: str, code: str) -> str | None:
    """The edit from ``before`` to ``after``, made in ``code``; ``None`` where it does not fit.

    The edit, from its first to its last changed token (apart by white space), must stand in
    ``code`` once, with the up to two tokens on either side. Only what changes is replaced, by the
    text of ``after``.
    """
    old, new = ([match.span() for match in _TOKEN.finditer(text)] for text in (before, after))
    words = [before[low:high] for low, high in old]
    changed = [
        op
        for op in Levenshtein.opcodes(words, [after[low:high] for low, high in new])
        if op.tag != "equal"
    ]
    if not changed:
        return None
    first, last = changed[0].src_start, changed[-1].src_end
    low, high = max(0, first - _CONTEXT), min(len(words), last + _CONTEXT)
    lead, gone, tail = (
        _pattern(words[start:end]) for start, end in ((low, first), (first, last), (last, high))
    )
    gaps = [
        r"(\s+)" if lead and (gone or tail) else "()",
        r"(\s+)" if gone and tail else "()",
    ]
    pattern = rf"(?<!\S)({lead}){gaps[0]}({gone}){gaps[1]}({tail})(?!\S)"
    found = list(re.finditer(pattern, code)) if high > low else []
    if len(found) != 1:
        return None
    match = found[0]
    made = new[changed[0].dest_start : changed[-1].dest_end]
    text = after[made[0][0] : made[-1][1]] if made else ""
    space, next_space = match.group(2), match.group(4)
    if text and not gone:
        # an insertion splits the one gap that there was
        space = space or (" " if lead else "")
        next_space = (match.group(2) or " ") if tail else ""
    elif not text:
        space, next_space = (space if lead and tail else ""), ""
    middle = match.group(1) + space + text + next_space + match.group(5)
    return code[: match.start()] + middle + code[match.end() :]


def _pattern(words: Sequence[str]) -> str:
    return r"\s+".join(re.escape(word) for word in words)


def _by_characters(text: str, others: Sequence[str]) -> list[float]:
    return [fuzz.ratio(text, other) / 100 for other in others]


def _by_encoder() -> Similarity:
    from models.crscore.encoder import SentenceEncoder

    encoder = SentenceEncoder()
    known: dict[str, Any] = {}

    def similarity(text: str, others: Sequence[str]) -> list[float]:
        # The index's texts come back for one query after another: each is encoded once.
        new = [one for one in dict.fromkeys([text, *others]) if one not in known]
        known.update(zip(new, encoder.encode(new), strict=True) if new else ())
        return [max(0.0, float(known[text] @ known[other])) for other in others]

    return similarity
