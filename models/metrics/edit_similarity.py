"""Character-level edit similarity, and token-level normalised edit distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rapidfuzz.distance import Indel, Levenshtein

from models.metrics.base import Metric, Record, Score, Signature, mean, tokens

Distance = Literal["levenshtein", "indel"]


class EditSimilarity(Metric):
    """Mean similarity in characters, 1 for equal texts (two empty ones too), 0 for nothing shared.

    ``levenshtein`` is 1 - d / max(length), with substitutions; ``indel`` is the ratio without
    substitutions, 1 - d / (sum of lengths), that CodeXGLUE's line completion reports.
    White space at both ends is taken off first.
    """

    name = "edit_similarity"

    def __init__(self, distance: Distance = "levenshtein") -> None:
        self.distance: Distance = distance

    def signature(self) -> Signature:
        """The distance; characters are the unit."""
        return Signature(self.name, (("unit", "char"), ("cost", self.distance), ("strip", "yes")))

    def similarity(self, prediction: str, target: str) -> float:
        """Similarity of one pair, 0 to 1."""
        left, right = prediction.strip(), target.strip()
        measure = Levenshtein if self.distance == "levenshtein" else Indel
        return float(measure.normalized_similarity(left, right))

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record."""
        values = [self.similarity(record.prediction, record.target) for record in records]
        return Score(self.name, mean(values), len(records), self.signature())


class NormalisedEditDistance(Metric):
    """Mean token distance over the longer one's number of tokens: 0 equal, 1 nothing shared."""

    name = "normalised_edit_distance"

    def signature(self) -> Signature:
        """Tokens apart by white space, unit costs, divided by the longer."""
        return Signature(
            self.name, (("tok", "whitespace"), ("cost", "levenshtein"), ("by", "longer"))
        )

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record."""
        values = [
            float(Levenshtein.normalized_distance(tokens(record.prediction), tokens(record.target)))
            for record in records
        ]
        return Score(self.name, mean(values), len(records), self.signature())
