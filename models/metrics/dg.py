"""DG, the measure by which Java8G's completions are judged.

A completion is worth what a person can take over from its start: DG counts the leading characters
that are right, up to the first wrong one, as a share of the text. The paper counts a short
suggestion that is wholly right as a full match, so the expected text is first clipped to the
suggestion's length (``clipped``); by it a short suggestion is never worse than a longer one that
starts with it. Unclipped, the share is that of the whole expected text. A suggestion that runs
past the expected end is wrong there, so the longer of the two texts is always the measure.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.metrics.base import Metric, Record, Score, Signature, mean


def dg(suggestion: str, expected: str, clipped: bool = True) -> float:
    """DG of one suggestion, 0 to 1; white space at both ends is no part of either text.

    An empty suggestion is worth 0, unless nothing was expected, when it is worth 1.
    """
    suggestion, expected = suggestion.strip(), expected.strip()
    if not suggestion or not expected:
        return float(suggestion == expected)
    if clipped:
        expected = expected[: len(suggestion)]
    right = 0
    for got, wanted in zip(suggestion, expected, strict=False):
        if got != wanted:
            break
        right += 1
    return right / max(len(suggestion), len(expected))


class DG(Metric):
    """Mean DG, with the share of full matches (DG of 1) in ``parts``."""

    def __init__(self, clipped: bool = True) -> None:
        self.clipped = clipped
        self.name = "dg" if clipped else "dg_unclipped"

    def signature(self) -> Signature:
        """Characters from the start; clipped or not."""
        return Signature(
            "dg", (("unit", "char"), ("clip", "yes" if self.clipped else "no"), ("strip", "yes"))
        )

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record."""
        values = [dg(record.prediction, record.target, self.clipped) for record in records]
        parts = {"full_match": mean([float(value == 1) for value in values])}
        return Score(self.name, mean(values), len(records), self.signature(), parts)
