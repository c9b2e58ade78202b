"""Rank correlations between a score and people's grades, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from models.metrics.base import Signature

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation from -1 to 1 with its percentile bootstrap interval.

    ``value`` is ``None`` where either side is constant or there are fewer than three pairs;
    ``low``/``high`` are ``None`` then too.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    signature: Signature

    def format(self) -> str:
        """``spearman 0.554 [0.520, 0.586] (n = 2619)``."""
        if self.value is None or self.low is None or self.high is None:
            return f"{self.name} n/a (n = {self.n})"
        return f"{self.name} {self.value:.3f} [{self.low:.3f}, {self.high:.3f}] (n = {self.n})"


def _spearman(left: Vector, right: Vector) -> float:
    a, b = stats.rankdata(left), stats.rankdata(right)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else float("nan")


def _kendall(left: Vector, right: Vector) -> float:
    return float(stats.kendalltau(left, right).statistic)


_STATISTICS: dict[str, Callable[[Vector, Vector], float]] = {
    "spearman": _spearman,
    "kendall": _kendall,
}


def correlation(
    scores: Sequence[float],
    grades: Sequence[float],
    kind: str = "spearman",
    groups: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Correlation:
    """Correlate two equally long sequences; Kendall is tau-b (ties on either side allowed).

    With ``groups`` (one key a pair, say the diff), whole groups are drawn again, since pairs of
    one diff are not independent. The interval is the percentile interval at ``level``.
    Raises ValueError for unequal lengths or an unknown ``kind``.
    """
    if kind not in _STATISTICS:
        raise ValueError(f"unknown correlation {kind!r}; choose one of {', '.join(_STATISTICS)}")
    if len(scores) != len(grades) or (groups is not None and len(groups) != len(scores)):
        raise ValueError("scores, grades and groups must be of the same length")
    statistic = _STATISTICS[kind]
    signature = Signature(
        kind,
        (
            ("resamples", str(resamples)),
            ("level", str(level)),
            ("unit", "pair" if groups is None else "group"),
            ("seed", str(seed)),
        ),
    )
    left, right = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    if len(left) < 3 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return Correlation(kind, None, None, None, len(left), signature)
    value = statistic(left, right)
    units = _units(len(left), groups)
    rng = np.random.default_rng(seed)
    drawn: list[float] = []
    for _ in range(resamples):
        picks = rng.integers(0, len(units), len(units))
        rows = np.concatenate([units[i] for i in picks])
        again = statistic(left[rows], right[rows])
        if not np.isnan(again):  # a resample may be constant on one side: it says nothing
            drawn.append(again)
    if not drawn:
        return Correlation(kind, value, None, None, len(left), signature)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Correlation(kind, value, float(low), float(high), len(left), signature)


def _units(n: int, groups: Sequence[Hashable] | None) -> list[NDArray[np.intp]]:
    if groups is None:
        return [np.array([i], dtype=np.intp) for i in range(n)]
    members: dict[Hashable, list[int]] = {}
    for row, key in enumerate(groups):
        members.setdefault(key, []).append(row)
    return [np.array(rows, dtype=np.intp) for rows in members.values()]
