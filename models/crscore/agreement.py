"""How well numbers agree with people: rank correlations, with intervals that respect diffs.

Ten reviews of one diff are no ten independent rows, so every interval resamples whole diffs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Statistic = Callable[[Numbers, Numbers], float]


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic and its bounds (95 % by default) from resampling; not a number: undefined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "n/a"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def _ranks(values: Numbers) -> Numbers:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values), dtype=np.float64)


def spearman(left: Numbers, right: Numbers) -> float:
    """Spearman's rank correlation; 0 where a side is constant."""
    a, b = _ranks(left), _ranks(right)
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / norm if norm else 0.0


def kendall(left: Numbers, right: Numbers) -> float:
    """Kendall's tau-b; 0 where a side is constant."""
    from scipy.stats import kendalltau

    value = float(kendalltau(left, right).statistic)
    return 0.0 if np.isnan(value) else value


def partial_spearman(left: Numbers, right: Numbers, given: Numbers) -> float:
    """Spearman of two columns with a third held fixed."""
    ab, ac, bc = spearman(left, right), spearman(left, given), spearman(right, given)
    norm = np.sqrt((1 - ac**2) * (1 - bc**2))
    return float((ab - ac * bc) / norm) if norm else 0.0


def resamples(groups: Sequence[Hashable], count: int, seed: int = 0) -> list[npt.NDArray[np.int64]]:
    """``count`` draws with replacement of whole groups, as row indices."""
    order = list(dict.fromkeys(groups))
    place = {group: index for index, group in enumerate(order)}
    owner = np.array([place[group] for group in groups])
    rows = [np.flatnonzero(owner == index) for index in range(len(order))]
    random = np.random.default_rng(seed)
    return [
        np.concatenate([rows[i] for i in random.integers(0, len(rows), len(rows))])
        for _ in range(count)
    ]


def _vary(scores: Numbers, human: Numbers) -> bool:
    return bool(np.ptp(scores) and np.ptp(human))


def bootstrap(
    statistic: Statistic,
    scores: Numbers,
    human: Numbers,
    groups: Sequence[Hashable],
    count: int = 1000,
    seed: int = 0,
) -> Interval:
    """A correlation of (scores, human) with its 95 % interval over resampled groups.

    Undefined where a side is constant; draws where one is say nothing and are left out.
    """
    if not _vary(scores, human):
        return Interval(np.nan, np.nan, np.nan)
    drawn = resamples(groups, count, seed)
    values = [statistic(scores[i], human[i]) for i in drawn if _vary(scores[i], human[i])]
    if not values:
        return Interval(statistic(scores, human), np.nan, np.nan)
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(statistic(scores, human), float(low), float(high))


def bootstrap_gain(
    better: Numbers,
    base: Numbers,
    human: Numbers,
    groups: Sequence[Hashable],
    count: int = 1000,
    seed: int = 0,
) -> Interval:
    """Spearman of ``better`` minus that of ``base``, on the same resampled rows."""
    values = [
        spearman(better[rows], human[rows]) - spearman(base[rows], human[rows])
        for rows in resamples(groups, count, seed)
    ]
    low, high = np.percentile(values, [2.5, 97.5])
    gain = spearman(better, human) - spearman(base, human)
    return Interval(gain, float(low), float(high))


def system_agreement(scores: Numbers, human: Numbers, systems: Sequence[str]) -> float:
    """Spearman of the systems' mean scores with the systems' mean human scores."""
    names = sorted(set(systems))
    owner = np.array(systems)
    means = np.array([[scores[owner == n].mean(), human[owner == n].mean()] for n in names])
    return spearman(means[:, 0], means[:, 1])
