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
        self._index(self.usable(task, train))
        self.task = task
        self.report = FitReport(0, 0.0, None, 0, 0.0, len(self._examples))
        return self.report

    def _index(self, examples: list[Example]) -> None:
        self._examples = examples
        self._bm25 = bm25s.BM25()
        self._bm25.index(
            # an empty document has no vocabulary of its own
            [subwords(example.shown()) or [""] for example in examples],
            show_progress=False,
        )

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """The answers of the nearest examples; a revision that fits nowhere leaves the code."""
        task = self.ready()
        return answer_where_possible(
            task, examples, lambda some: [self._answer(task, one, beams) for one in some]
        )

    def nearest(self, text: str, size: int) -> list[tuple[Example, float]]:
        """The ``size`` most similar examples with their similarity (0 to 1), best first."""
        pool = min(_POOL, len(self._examples))
        places, _ = self._bm25.retrieve(
            [subwords(text) or [""]], k=pool, show_progress=False, n_threads=0
        )
        found = [self._examples[int(place)] for place in places[0]]
        scores = self._rank()(text, [example.shown() for example in found])
        order = sorted(range(len(found)), key=lambda place: -scores[place])
        return [(found[place], scores[place]) for place in order[:size]]

    def _rank(self) -> Similarity:
        if self._similarity is None:
            self._similarity = _by_encoder() if self.ranker == "encoder" else _by_characters
        return self._similarity

    def _answer(self, task: Task, example: Example, beams: int) -> Prediction:
        near = self.nearest(example.shown(), max(beams, 1 if task is Task.RCG else _POOL))
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
        return {"ranker": self.ranker, "examples": len(self._examples)}

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> Retrieval:
        """See ``System.read``."""
        system = cls(details["ranker"])
        with gzip.open(folder / _FILE, "rt", encoding="utf-8") as lines:
            system._index([Example(**json.loads(line)) for line in lines])
        return system


def transfer(before: str, after: str, code: str) -> str | None:
    """The edit from ``before`` to ``after``, made in ``code``; ``None`` where it does not fit.

    The edit, from its first to its last changed token, must stand in ``code`` with up to two
    tokens of what is around it, once. Tokens are apart by white space; that of ``code`` stays
    around the edit.
    """
    old, new = before.split(), after.split()
    changed = [op for op in Levenshtein.opcodes(old, new) if op.tag != "equal"]
    if not changed:
        return None
    first, last = changed[0].src_start, changed[-1].src_end
    low, high = max(0, first - _CONTEXT), min(len(old), last + _CONTEXT)
    pattern = r"\s+".join(re.escape(token) for token in old[low:high])
    found = list(re.finditer(rf"(?<!\S){pattern}(?!\S)", code)) if pattern else []
    if len(found) != 1:
        return None
    grown = len(new) - len(old)
    body = [*old[low:first], *new[changed[0].dest_start : last + grown], *old[last:high]]
    return code[: found[0].start()] + " ".join(body) + code[found[0].end() :]


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
