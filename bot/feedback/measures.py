"""How well probabilities hold: expected calibration error, a table with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

Z90 = 1.6448536269514722
"""Standard deviations of a two-sided interval of 90 %."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The predictions between ``low`` and ``high``: their mean, and what share came true.

    ``from_``..``to`` is the 90 % interval of ``observed`` (Wilson 1927).
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: float
    from_: float
    to: float


def wilson(accepted: float, total: float, z: float = Z90) -> tuple[float, float]:
    """Wilson's interval of a share; (0, 1) where nothing was counted."""
    if total <= 0:
        return 0.0, 1.0
    share = accepted / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * sqrt(share * (1 - share) / total + z * z / (4 * total**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def bins(predicted: Sequence[float], truth: Sequence[float], count: int = 10) -> list[Bin]:
    """Equal-width bins over 0..1, without the empty ones.

    Args:
        predicted: probabilities.
        truth: what happened, 0 or 1 (or, in a simulation, the true probability).
        count: number of bins.
    """
    groups: dict[int, list[tuple[float, float]]] = {}
    for p, y in zip(predicted, truth, strict=True):
        groups.setdefault(min(count - 1, int(p * count)), []).append((p, y))
    made = []
    for at in sorted(groups):
        rows = groups[at]
        hits = sum(y for _, y in rows)
        low, high = wilson(hits, len(rows))
        made.append(
            Bin(
                at / count,
                (at + 1) / count,
                len(rows),
                sum(p for p, _ in rows) / len(rows),
                hits / len(rows),
                low,
                high,
            )
        )
    return made


def expected_calibration_error(
    predicted: Sequence[float], truth: Sequence[float], count: int = 10
) -> float | None:
    """Mean distance of a bin's prediction from what came true, weighed by its size.

    Naeini, Cooper and Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian
    binning", section "Calibration metrics"; ``None`` where there is nothing.
    """
    if not predicted:
        return None
    rows = bins(predicted, truth, count)
    return sum(row.count * abs(row.predicted - row.observed) for row in rows) / len(predicted)


def table(rows: Sequence[Bin]) -> list[str]:
    """The calibration curve in text: one line a bin, a bar of what was observed."""
    lines = ["predicted      n  mean  came true (90 %)"]
    for row in rows:
        bar = "#" * round(row.observed * 20)
        lines.append(
            f"{row.low:.1f} to {row.high:.1f} {row.count:>5}  {row.predicted:.2f}  "
            f"{row.observed:.2f} ({row.from_:.2f} to {row.to:.2f})  |{bar:<20}|"
        )
    return lines
