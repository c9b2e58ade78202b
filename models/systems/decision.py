"""Which answer to give, or none: an exact match is worth something, every wrong token costs.

Exact Match alone asks for the most probable text. But most texts are wrong, and a wrong text leads
away from what people wrote: Edit Progress falls below that of leaving the code alone. Choosing by
expected utility (minimum Bayes risk: Kumar and Byrne 2004; Eikema and Aziz 2020) weighs the two.
The candidates' probabilities say how far a text is expected to be from the truth; what probability
they leave over is a truth that none of them is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from models.metrics.base import tokens


@dataclass(frozen=True, slots=True)
class Stakes:
    """What an answer may win and lose.

    ``token``: what a token further from the truth costs, where an exact match wins 1.
    ``astray``: how much further from a truth that is none of the candidates an edit leads, as a
    share of its own tokens (1: all of them are put where nothing was to be done).
    """

    token: float
    astray: float


def expected_distances(
    source: str, candidates: Sequence[tuple[float, str]], astray: float
) -> list[float]:
    """How many tokens each text is expected to be further from the truth than the source is.

    ``candidates`` are (probability, text), together 1 at most. Below 0: it leads towards it.
    """
    if not candidates:
        return []
    texts = [tokens(text) for _, text in candidates]
    mass = np.array([probability for probability, _ in candidates])
    # the scores of a pair's distance are whole numbers that int32 holds for any method
    apart = cdist(texts, [*texts, tokens(source)], scorer=Levenshtein.distance, dtype=np.int32)
    between, size = apart[:, :-1], apart[:, -1]
    known = (between - size[None, :]) @ mass
    return [float(value) for value in known + max(0.0, 1.0 - float(mass.sum())) * astray * size]


def choose(
    source: str,
    candidates: Sequence[tuple[float, str]],
    stakes: Stakes,
    sound: Callable[[str], bool] = lambda text: True,
) -> int | None:
    """The index of the candidate to give; ``None``: leave the source as it is.

    ``candidates`` are (probability, text), distinct texts. Given is the one of the highest
    probability less ``stakes.token`` times its expected distance, if that is above 0: leaving the
    source alone is never an exact match where something is to be revised, and moves by no token.
    One that is not ``sound`` is passed over, but what it says of the truth counts for the others.
    """
    far = expected_distances(source, candidates, stakes.astray)
    worth = [
        probability - stakes.token * distance
        for (probability, _), distance in zip(candidates, far, strict=True)
    ]
    for place in sorted(range(len(worth)), key=lambda place: -worth[place]):
        if worth[place] <= 0.0:
            break
        if sound(candidates[place][1]):
            return place
    return None
