"""Kernel ridge regression, small enough to read: what stands under the judge.

A prediction is a weighted sum of similarities to the rows that it was fitted on, so the weights
are plain arrays and the fit is one linear system: the same on every machine up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Clip each column to ``low``..``high``, centre and scale it; all have shape (columns,)."""

    low: Matrix
    high: Matrix
    mean: Matrix
    spread: Matrix

    @staticmethod
    def of(rows: Matrix) -> Scaling:
        """From the 1st and 99th percentile, mean and deviation of ``rows``, (n, columns)."""
        low, high = np.percentile(rows, 1, axis=0), np.percentile(rows, 99, axis=0)
        clipped = np.clip(rows, low, high)
        return Scaling(low, high, clipped.mean(axis=0), clipped.std(axis=0) + 1e-6)

    def apply(self, rows: Matrix) -> Matrix:
        """Scaled rows, same shape."""
        return (np.clip(rows, self.low, self.high) - self.mean) / self.spread


def gaussian_kernel(left: Matrix, right: Matrix, gamma: float) -> Matrix:
    """exp(-gamma * squared distance / columns), shape (left rows, right rows)."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :]
    distance = np.maximum(squares - 2.0 * left @ right.T, 0.0)
    return np.asarray(np.exp(-gamma * distance / left.shape[1]))


@dataclass(frozen=True, slots=True)
class KernelRidge:
    """A fitted regression of several targets at once.

    ``support`` (n, columns) are scaled rows, ``weights`` (n, targets), ``offset`` (targets,).
    """

    support: Matrix
    weights: Matrix
    offset: Matrix
    gamma: float

    def predict(self, rows: Matrix) -> Matrix:
        """Targets of scaled rows, shape (rows, targets)."""
        return gaussian_kernel(rows, self.support, self.gamma) @ self.weights + self.offset


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """A regression from which any of its rows can be taken out again, at little cost.

    ``inverse`` (n, n) is that of the kernel with its ridge; ``whole`` the fit to all rows. Columns
    were scaled and targets centred on all rows: what is left out leaves no other trace.
    """

    whole: KernelRidge
    inverse: Matrix

    def without(self, out: npt.NDArray[np.int64]) -> KernelRidge:
        """The fit to all rows but those of indices ``out``: what fitting anew would give."""
        weights = self.whole.weights.copy()
        block = np.linalg.solve(self.inverse[np.ix_(out, out)], weights[out])
        weights -= self.inverse[:, out] @ block
        weights[out] = 0.0
        return KernelRidge(self.whole.support, weights, self.whole.offset, self.whole.gamma)


def fit(rows: Matrix, targets: Matrix, importance: Matrix, gamma: float, ridge: float) -> LeaveOut:
    """Fit scaled ``rows`` (n, columns) to ``targets`` (n, targets).

    ``importance`` (n,) weighs the rows: a row of importance w is held to its target as w rows.
    """
    offset = (importance[:, None] * targets).sum(axis=0) / importance.sum()
    kernel = gaussian_kernel(rows, rows, gamma)
    kernel[np.diag_indices(len(kernel))] += ridge / importance
    inverse = _inverse(kernel)
    weights = inverse @ (targets - offset)
    return LeaveOut(KernelRidge(rows, weights, offset, gamma), inverse)


def _inverse(kernel: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix, by Cholesky: half the usual work."""
    from scipy.linalg import cho_factor
    from scipy.linalg.lapack import dpotri

    factor, _ = cho_factor(kernel, lower=True)
    half, _ = dpotri(factor, lower=1)
    half = np.tril(half)
    return np.asarray(half + np.tril(half, -1).T)
