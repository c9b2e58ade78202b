"""How good generated comments are to a person, as far as the judge can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.tasks import Example, Prediction

Judged = Callable[[str, Sequence[str]], Sequence[float]]
"""The probabilities of several comments on one diff: ``Judge.probabilities``."""


def best_of(
    judged: Judged, examples: Sequence[Example], predictions: Sequence[Prediction], k: int
) -> float:
    """The mean over hunks of the judge's probability for the best of the first ``k`` comments.

    A hunk without a comment counts 0, as nobody finds silence relevant to it.

    Args:
        judged: of each example's ``diff`` and its comments.
        examples: hunks.
        predictions: one an example, with up to ``k`` ranked comments.
        k: how many are looked at.
    """
    total = 0.0
    for example, prediction in zip(examples, predictions, strict=True):
        texts = list(dict.fromkeys(text for text in prediction.ranked[:k] if text.strip()))
        if texts:
            total += max(judged(example.diff, texts))
    return total / len(examples)
