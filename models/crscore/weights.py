"""The judge's weights: what fitting makes, and the two files that it is kept in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.crscore.features import Background
from models.crscore.idle import IdleFinder, Landmarks
from models.crscore.kernel import KernelRidge, Matrix, Scaling
from models.crscore.words import Rarity

HEADS = ("diff", "claims")
"""``diff`` reads the change alone; ``claims`` reads given pseudo-references as well."""
TARGETS = ("rank", "con", "comp")


class JudgeError(RuntimeError):
    """The judge's weights are missing, damaged, or made for another encoder."""


@dataclass(frozen=True, slots=True)
class Head:
    """One regression with all that turns its output into calibrated numbers.

    ``columns`` are the indices it reads. ``center``/``spread`` standardise the regression's
    ``rank`` target; ``slope`` is taken off per standard deviation of length rank; ``platt`` are
    the logistic's factor and offset; ``knots`` (k, 2) map raw scores to relevance.
    """

    columns: npt.NDArray[np.int64]
    regression: KernelRidge
    center: float
    spread: float
    slope: float
    platt: tuple[float, float]
    knots: Matrix

    def raw(self, outputs: Matrix, lengths: Matrix) -> Matrix:
        """Scores (n,) of regression outputs (n, targets), before ``settle``."""
        standard = (outputs[:, 0] - self.center) / self.spread
        return np.asarray(standard - self.slope * lengths)

    def probability(self, raw: Matrix) -> Matrix:
        """Calibrated probability of 3 or more, strictly increasing in ``raw``."""
        factor, offset = self.platt
        return np.asarray(1.0 / (1.0 + np.exp(-(factor * raw + offset))))

    def relevance(self, raw: Matrix) -> Matrix:
        """Expected score of a person, 1 to 5."""
        return np.asarray(np.interp(raw, self.knots[:, 0], self.knots[:, 1]))


def settle(raw: Matrix, reduced: Matrix, owners: npt.NDArray[np.int64], cost: Matrix) -> Matrix:
    """Final scores (n,) of reviews: the least of their own and of their reductions' (m,), each
    less its ``cost`` (m,). ``owners`` (m,) says whose reduction each is."""
    final = np.array(raw, dtype=np.float64)
    np.minimum.at(final, owners, reduced - cost)
    return final


@dataclass(frozen=True, slots=True)
class Weights:
    """Everything that fitting produces; see ``models.crscore.fit_judge``.

    ``lengths`` are evenly spaced quantiles of review length in characters; ``idle_cost`` is
    taken off for each idle sentence, in standard deviations of the score.
    """

    encoder_sha256: str
    names: tuple[str, ...]
    background: Background
    scaling: Scaling
    heads: dict[str, Head]
    lengths: Matrix
    idle_cost: float
    sha256: str = ""


def default_folder() -> Path:
    """Where the shipped weights lie."""
    return Path(str(resources.files("models").joinpath("weights", "judge")))


def save_weights(weights: Weights, folder: Path) -> None:
    """Write ``judge.json`` and ``judge.safetensors`` (no pickle)."""
    from safetensors.numpy import save_file

    known = weights.background
    arrays: dict[str, npt.NDArray[Any]] = {
        "centroid": known.centroid.astype(np.float16),
        "comments": known.comments.astype(np.float16),
        "scaling": np.stack(
            [getattr(weights.scaling, key) for key in ("low", "high", "mean", "spread")]
        ),
        "lengths": weights.lengths,
    }
    finder = known.finder
    if finder is None:
        raise JudgeError("a judge without a finder of idle sentences is not whole; fit one")
    arrays["finder"] = np.stack([finder.mean, finder.spread, finder.weights])
    marks = finder.landmarks
    arrays["fillings"] = marks.fillings.astype(np.float16)
    arrays["bank"] = marks.bank.astype(np.float16)
    arrays["center"], arrays["basis"] = marks.center, marks.basis
    numbers: dict[str, Any] = {}
    for name, head in weights.heads.items():
        arrays[f"{name}.columns"] = head.columns
        arrays[f"{name}.weights"] = head.regression.weights.astype(np.float32)
        arrays[f"{name}.knots"] = head.knots
        numbers[name] = {
            "offset": head.regression.offset.tolist(),
            "gamma": head.regression.gamma,
            "center": head.center,
            "spread": head.spread,
            "slope": head.slope,
            "platt": list(head.platt),
        }
    widest = max(weights.heads.values(), key=lambda head: len(head.columns))
    arrays["support"] = widest.regression.support.astype(np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    # the writer takes memory as it lies: columns picked from a table lie by column
    rows = {key: np.ascontiguousarray(value) for key, value in arrays.items()}
    save_file(rows, folder / "judge.safetensors")
    # the writer leaves the file to its owner alone; an installed package is read by others
    (folder / "judge.safetensors").chmod(0o644)
    data = {
        "format": 3,
        "encoder_sha256": weights.encoder_sha256,
        "safetensors_sha256": _sha256(folder / "judge.safetensors"),
        "names": list(weights.names),
        "targets": list(TARGETS),
        "idle_cost": weights.idle_cost,
        "finder_offset": finder.offset,
        "heads": numbers,
        "rarity_unknown": known.rarity.unknown,
        "rarity": dict(sorted(known.rarity.weights.items())),
        "subjects": dict(sorted(known.subjects.items())),
    }
    (folder / "judge.json").write_text(json.dumps(data, separators=(",", ":")) + "\n", "utf-8")


def load_weights(folder: Path | None = None) -> Weights:
    """Read weights; raises ``JudgeError`` in one line where they cannot be used."""
    from safetensors.numpy import load_file

    folder = folder or default_folder()
    path = folder / "judge.json"
    try:
        data = json.loads(path.read_text("utf-8"))
        if _sha256(folder / "judge.safetensors") != data["safetensors_sha256"]:
            raise JudgeError(f"{folder}/judge.safetensors: not the file that judge.json names")
        arrays = load_file(folder / "judge.safetensors")
        heads = {name: _head(name, row, arrays) for name, row in data["heads"].items()}
        low, high, mean, spread = arrays["scaling"]
        return Weights(
            encoder_sha256=data["encoder_sha256"],
            names=tuple(data["names"]),
            background=Background(
                Rarity(data["rarity"], data["rarity_unknown"]),
                arrays["centroid"].astype(np.float32),
                arrays["comments"].astype(np.float32),
                data["subjects"],
                _finder(data, arrays),
            ),
            scaling=Scaling(low, high, mean, spread),
            heads=heads,
            lengths=arrays["lengths"],
            idle_cost=data["idle_cost"],
            sha256=_sha256(path),
        )
    except FileNotFoundError as error:
        raise JudgeError(
            f"{folder}: no judge there ({Path(error.filename or '').name}); "
            "fit one by: python -m models.crscore.fit_judge"
        ) from error
    except (KeyError, ValueError) as error:
        raise JudgeError(f"{path}: damaged ({error}); restore the shipped file") from error


def _finder(data: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> IdleFinder:
    mean, spread, weights = arrays["finder"]
    keys = ("fillings", "bank", "comments", "center", "basis")
    marks = Landmarks(*(arrays[key].astype(np.float32) for key in keys))
    return IdleFinder(mean, spread, weights, data["finder_offset"], marks)


def _head(name: str, row: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Head:
    columns = arrays[f"{name}.columns"]
    regression = KernelRidge(
        support=arrays["support"][:, columns].astype(np.float64),
        weights=arrays[f"{name}.weights"].astype(np.float64),
        offset=np.array(row["offset"]),
        gamma=row["gamma"],
    )
    return Head(
        columns=columns,
        regression=regression,
        center=row["center"],
        spread=row["spread"],
        slope=row["slope"],
        platt=(row["platt"][0], row["platt"][1]),
        knots=arrays[f"{name}.knots"],
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
