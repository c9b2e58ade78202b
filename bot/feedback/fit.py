"""Logistic regression with shrinkage, averaged over how strong the shrinkage is.

A multilevel logistic model (Gelman and Hill 2006, chapters 11 to 14: partial pooling): the log
odds that a remark is accepted are an offset (what was believed before) plus effects of the team,
of the remark's origin and of its rule, each with a normal prior around 0. How far teams differ is
not known beforehand, so the model is fitted for several prior scales, and the fits are averaged
by their evidence (Laplace's approximation: MacKay 1992, "The evidence framework applied to
classification networks", section 2). With few outcomes the cautious scales hold most of the
weight; with many that disagree with the prior, the bold ones take over, smoothly.

Tastes change: the latest moment of change is averaged over too (one change point with a constant
hazard: Fearnhead 2006, "Exact and efficient Bayesian inference for multiple changepoint
problems"). A model that starts at tau explains what came before by a fit of its own and what came
after by the one that counts. All of it is deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

SCALES: tuple[tuple[float, float], ...] = ((0.04, 0.6), (0.3, 0.3), (2.0, 0.1))
"""Prior variances of the log odds, and how much each is believed before any outcome."""
SHARES: Mapping[str, float] = {"team": 0.25, "slope": 0.1, "origin": 0.25, "rule": 0.5}
"""How the prior variance is shared among the groups of effects."""
HAZARD = 1 / 1000
"""The chance that a team's taste changes between one outcome and the next."""
FEWEST = 20
"""Outcomes that both sides of a change need."""
SEGMENTS = 12
"""Moments of change that are considered, evenly spaced."""
NEGLIGIBLE = 1e-4
"""Fits of less weight are left out."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Outcomes that are alike: ``effects`` name what applies with its factor.

    ``offset`` is the prior log odds, ``accepted`` of ``total`` were accepted (weights, not
    necessarily whole).
    """

    effects: tuple[tuple[str, float], ...]
    offset: float
    accepted: float
    total: float


@dataclass(frozen=True, slots=True)
class Component:
    """One fit: its weight among all, and each effect's mean and variance (log odds)."""

    weight: float
    scale: float
    mean: Mapping[str, float] = field(default_factory=dict)
    variance: Mapping[str, float] = field(default_factory=dict)

    def effect(self, effects: Sequence[tuple[str, float]]) -> float:
        """The log odds that these effects add to the offset; unknown ones add nothing."""
        return sum(self.mean.get(name, 0.0) * factor for name, factor in effects)

    def spread(self, effects: Sequence[tuple[str, float]]) -> float:
        """Variance of ``effect``, as if the effects were independent given the data."""
        return sum(
            self.variance.get(name, self.scale * _share(name)) * factor * factor
            for name, factor in effects
        )


def prior_components() -> tuple[Component, ...]:
    """What is believed with no outcome at all: no effect, at every scale."""
    return tuple(Component(weight, scale) for scale, weight in SCALES)


def fit(steps: Sequence[Sequence[Cell]]) -> tuple[Component, ...]:
    """Fit outcomes given in order of time, in equal steps; the fits are averaged by evidence.

    Args:
        steps: cells of outcomes, one sequence for each step of time, the oldest first.
    """
    sizes = [sum(cell.total for cell in step) for step in steps]
    if sum(sizes) <= 0:
        return prior_components()
    whole = _scaled([cell for step in steps for cell in step])
    found = [(evidence, component) for evidence, component in whole]
    for cut in _cuts(sizes):
        before = _scaled([cell for step in steps[:cut] for cell in step])
        after = _scaled([cell for step in steps[cut:] for cell in step])
        past = _log_sum([evidence for evidence, _ in before])
        # the hazard is spread over the outcomes that one considered moment stands for
        chance = log(HAZARD * sum(sizes) / SEGMENTS)
        found += [(evidence + past + chance, component) for evidence, component in after]
    total = _log_sum([evidence for evidence, _ in found])
    weights = [float(np.exp(evidence - total)) for evidence, _ in found]
    kept = sum(weight for weight in weights if weight >= NEGLIGIBLE)
    return tuple(
        Component(weight / kept, one.scale, one.mean, one.variance)
        for weight, (_, one) in zip(weights, found, strict=True)
        if weight >= NEGLIGIBLE
    )


def _cuts(sizes: Sequence[float]) -> list[int]:
    done = np.cumsum(sizes)
    total = float(done[-1])
    cuts = set()
    for part in range(1, SEGMENTS):
        at = int(np.searchsorted(done, total * part / SEGMENTS)) + 1
        if at < len(sizes) and done[at - 1] >= FEWEST and total - done[at - 1] >= FEWEST:
            cuts.add(at)
    return sorted(cuts)


def _scaled(cells: Sequence[Cell]) -> list[tuple[float, Component]]:
    """Every scale's fit with its log evidence (the prior belief in the scale included)."""
    merged: dict[tuple[tuple[tuple[str, float], ...], float], list[float]] = {}
    for cell in cells:
        row = merged.setdefault((cell.effects, cell.offset), [0.0, 0.0])
        row[0] += cell.accepted
        row[1] += cell.total
    names = sorted({name for effects, _ in merged for name, _ in effects})
    place = {name: at for at, name in enumerate(names)}
    design = np.zeros((len(merged), len(names)))
    offset, accepted, total = (np.zeros(len(merged)) for _ in range(3))
    for row_at, ((effects, start), (good, all_of)) in enumerate(sorted(merged.items())):
        for name, factor in effects:
            design[row_at, place[name]] += factor
        offset[row_at], accepted[row_at], total[row_at] = start, good, all_of
    shares = np.array([_share(name) for name in names])
    result = []
    start_at = np.zeros(len(names))
    for scale, belief in SCALES:
        evidence, start_at, variance = _laplace(
            design, offset, accepted, total, 1 / (scale * shares), start_at
        )
        mean = dict(zip(names, start_at.tolist(), strict=True))
        spread = dict(zip(names, variance.tolist(), strict=True))
        result.append((evidence + log(belief), Component(1.0, scale, mean, spread)))
    return result


def _laplace(
    design: Vector,
    offset: Vector,
    accepted: Vector,
    total: Vector,
    precision: Vector,
    start: Vector,
) -> tuple[float, Vector, Vector]:
    """Log evidence, mode and marginal variances, by Newton's steps halved where needed."""
    mode = start
    value = _posterior(design, offset, accepted, total, precision, mode)
    for _ in range(50):
        p = _sigmoid(offset + design @ mode)
        slope = design.T @ (accepted - total * p) - precision * mode
        curve = (design.T * (total * p * (1 - p))) @ design + np.diag(precision)
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while size > 1e-4:
            tried = _posterior(design, offset, accepted, total, precision, mode + size * step)
            if tried >= value - 1e-12:
                break
            size /= 2
        else:
            break
        mode, gained, value = mode + size * step, tried - value, tried
        if gained < 1e-8:
            break
    p = _sigmoid(offset + design @ mode)
    curve = (design.T * (total * p * (1 - p))) @ design + np.diag(precision)
    _, volume = np.linalg.slogdet(curve)
    evidence = value + 0.5 * float(np.log(precision).sum()) - 0.5 * float(volume)
    return evidence, mode, np.diag(np.linalg.inv(curve))


def _posterior(
    design: Vector,
    offset: Vector,
    accepted: Vector,
    total: Vector,
    precision: Vector,
    mode: Vector,
) -> float:
    x = offset + design @ mode
    likelihood = accepted * x - total * np.logaddexp(0.0, x)
    return float(likelihood.sum() - 0.5 * (precision * mode * mode).sum())


def _sigmoid(x: Vector) -> Vector:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _share(name: str) -> float:
    return SHARES[name.split("=", 1)[0]]


def _log_sum(values: Sequence[float]) -> float:
    return float(np.logaddexp.reduce(np.array(values)))
