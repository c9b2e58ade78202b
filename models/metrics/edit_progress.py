"""Edit Progress: how much of the way from the source to the target a prediction has gone.

Zhou et al., "Generation-based Code Review Automation: How Far Are We?" (2023):
EP = (d(source, target) - d(prediction, target)) / d(source, target), d = edit distance of tokens.
Copying the source scores 0, the target scores 1, and a prediction that leads away scores less
than 0 without bound: one runaway prediction moves a mean, so the median and the aggregate stand
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rapidfuzz.distance import Levenshtein

from models.metrics.base import Metric, Record, Score, Signature, mean, tokens


def token_distance(left: str, right: str) -> int:
    """Levenshtein distance in tokens: insertions, deletions and substitutions cost 1 each."""
    return int(Levenshtein.distance(tokens(left), tokens(right)))


def edit_progress(source: str, target: str, prediction: str) -> float | None:
    """Edit Progress of one prediction, or ``None`` where source and target do not differ."""
    start = token_distance(source, target)
    if start == 0:
        return None
    return (start - token_distance(prediction, target)) / start


class EditProgress(Metric):
    """Mean, median and aggregate Edit Progress over the records that need a revision.

    The aggregate is 1 - sum d(prediction, target) / sum d(source, target); it is the headline.
    Records whose source is their target are left out of all three and counted apart in
    ``n_unchanged``; ``unchanged_distance`` is the mean token distance that the predictions put
    between themselves and those sources (0 = all left alone).
    """

    name = "edit_progress"

    def signature(self) -> Signature:
        """Tokens apart by white space, unit costs, unchanged records apart."""
        return Signature(
            self.name, (("tok", "whitespace"), ("cost", "levenshtein"), ("unchanged", "apart"))
        )

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record."""
        progress: list[float] = []
        apart: list[float] = []
        start_sum = left_sum = 0
        for record in records:
            start = token_distance(record.source, record.target)
            left = token_distance(record.prediction, record.target)
            if start == 0:
                apart.append(float(left))
                continue
            progress.append((start - left) / start)
            start_sum += start
            left_sum += left
        aggregate = 1 - left_sum / start_sum if start_sum else None
        parts = {
            "mean": mean(progress),
            "median": median(progress) if progress else None,
            "aggregate": aggregate,
            "n": float(len(progress)),
            "n_unchanged": float(len(apart)),
            "unchanged_distance": mean(apart),
        }
        return Score(self.name, aggregate, len(records), self.signature(), parts)
