"""The judge: how relevant would a person find this review of this change?

Fitted on people's scores (1 to 5) of reviews by ten systems; see the model card beside its
weights for what it was fitted on, how it was checked and where it fails. It looks at the review,
the change, the claims read off the change and, where somebody gives them, pseudo-references. It
needs no large model: sentence vectors of the shipped encoder, words, and a kernel regression.

What a person rewards grows with length, and so would any fitted score; the judge takes the excess
off. And it looks at the review without its sentences that say nothing of the change, and at every
part in between: the lowest of these scores, less a little for each sentence left out, is the
review's. So a sentence that is found to say nothing always lowers the score.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.change import Hunk
from models.crscore.encoder import Encoder, SentenceEncoder, Vectors
from models.crscore.features import (
    Background,
    Reduced,
    Row,
    View,
    columns_of,
    needed_texts,
    reduced_rows,
    views_of,
)
from models.crscore.idle import IdleFinder, Landmarks
from models.crscore.kernel import KernelRidge, Matrix, Scaling
from models.crscore.score import read_references
from models.crscore.words import Rarity
from models.review_types import PseudoReference

HEADS = ("diff", "claims")
"""``diff`` reads the change alone; ``claims`` reads given pseudo-references as well."""
TARGETS = ("rank", "con", "comp")
_CHUNK = 512


class JudgeError(RuntimeError):
    """The judge's weights are missing, damaged, or made for another encoder."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge expects of a person.

    ``probability`` that the person gives 3 or more for relevance; ``relevance``, ``conciseness``
    and ``comprehensiveness`` expected on the scale 1 to 5; ``raw`` the uncalibrated score (its
    order is that of ``probability``); ``idle``: its sentences that say nothing of the change.
    """

    probability: float
    relevance: float
    conciseness: float
    comprehensiveness: float
    raw: float
    idle: int


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


def length_ranks(quantiles: Matrix, reviews: Sequence[str]) -> Matrix:
    """Rank of each review's length among reviews, centred, in standard deviations."""
    grid = np.linspace(0.0, 1.0, len(quantiles))
    size = np.array([len(review) for review in reviews], dtype=np.float64)
    return np.asarray((np.interp(size, quantiles, grid) - 0.5) * np.sqrt(12.0))


def vectors_of(encoder: Encoder, views: Sequence[View], width: int) -> dict[str, Vectors]:
    """Unit vectors of all texts that the views need; the empty text is the zero vector."""
    texts = [text for text in needed_texts(views) if text]
    vectors: dict[str, Vectors] = {"": np.zeros(width, dtype=np.float32)}
    if texts:
        vectors.update(zip(texts, encoder.encode_groups([texts])[0], strict=True))
    return vectors


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
        "format": 2,
        "encoder_sha256": weights.encoder_sha256,
        "safetensors_sha256": _sha256(folder / "judge.safetensors"),
        "names": list(weights.names),
        "targets": list(TARGETS),
        "idle_cost": weights.idle_cost,
        "finder_offset": finder.offset,
        "heads": numbers,
        "rarity_unknown": known.rarity.unknown,
        "rarity": dict(sorted(known.rarity.weights.items())),
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


class Judge:
    """The fitted judge. It uses its own encoder, whatever encoder CRScore runs with.

    ``encoder`` may be shared where it is the very encoder that the judge was fitted with.
    """

    def __init__(self, encoder: Encoder | None = None, weights: Weights | None = None) -> None:
        self.weights = weights or load_weights()
        if encoder is None or encoder.sha256 != self.weights.encoder_sha256:
            encoder = SentenceEncoder()
        if encoder.sha256 != self.weights.encoder_sha256:
            raise JudgeError(
                f"the judge was fitted with encoder {self.weights.encoder_sha256[:12]}, "
                f"installed is {encoder.sha256[:12]}"
            )
        self.encoder = encoder
        self.signature = f"judge:2@{self.weights.sha256[:12]}"

    def judge(self, rows: Sequence[Row]) -> list[Judgement]:
        """Judgements of rows; a row with ``references`` goes to the ``claims`` head."""
        found: list[Judgement] = []
        for start in range(0, len(rows), _CHUNK):
            found += self._chunk(rows[start : start + _CHUNK])
        return found

    def probability(
        self,
        diff: str | Sequence[Hunk],
        review: str,
        references: Sequence[str | PseudoReference] | None = None,
    ) -> float:
        """The probability that a person gives this review 3 or more of 5 for relevance."""
        return self.probabilities(diff, [review], references)[0]

    def probabilities(
        self,
        diff: str | Sequence[Hunk],
        reviews: Sequence[str],
        references: Sequence[str | PseudoReference] | None = None,
    ) -> list[float]:
        """Probabilities of several reviews of one change; ``references`` as in ``row_of``."""
        rows = [row_of(diff, review, references) for review in reviews]
        return [judgement.probability for judgement in self.judge(rows)]

    def _chunk(self, rows: Sequence[Row]) -> list[Judgement]:
        if not rows:
            return []
        weights = self.weights
        names, table, reduced, below, idle = tables_of(self.encoder, rows, weights.background)
        if names != weights.names:
            raise JudgeError("the judge's weights were fitted with other columns; fit it again")
        scaled, scaled_below = weights.scaling.apply(table), weights.scaling.apply(below)
        lengths = length_ranks(weights.lengths, [row.review for row in rows])
        lengths_below = length_ranks(weights.lengths, [row.review for row in reduced.rows])
        cost = weights.idle_cost * reduced.missing
        given = np.array([bool(row.references) for row in rows])
        found: list[Judgement | None] = [None] * len(rows)
        for name, head in weights.heads.items():
            here = np.flatnonzero(given == (name == "claims"))
            if not len(here):
                continue
            place = np.full(len(rows), -1, dtype=np.int64)
            place[here] = np.arange(len(here))
            part = np.flatnonzero(place[reduced.owners] >= 0)
            outputs = head.regression.predict(scaled[here][:, head.columns])
            raw = head.raw(outputs, lengths[here])
            if len(part):
                lower = head.regression.predict(scaled_below[part][:, head.columns])
                lower_raw = head.raw(lower, lengths_below[part])
                raw = settle(raw, lower_raw, place[reduced.owners[part]], cost[part])
            probability, relevance = head.probability(raw), head.relevance(raw)
            for at, i in enumerate(here.tolist()):
                blank = not any(map(str.isalnum, rows[i].review))
                con, comp = np.clip(outputs[at, 1:3], 1.0, 5.0)
                found[i] = Judgement(
                    probability=0.0 if blank else float(probability[at]),
                    relevance=1.0 if blank else float(relevance[at]),
                    conciseness=1.0 if blank else float(con),
                    comprehensiveness=1.0 if blank else float(comp),
                    raw=float(raw[at]),
                    idle=idle[i],
                )
        return [judgement for judgement in found if judgement is not None]


def tables_of(
    encoder: Encoder, rows: Sequence[Row], known: Background
) -> tuple[tuple[str, ...], Matrix, Reduced, Matrix, list[int]]:
    """(names, columns of the rows, their reductions, columns of those, idle sentences a row)."""
    views = views_of(rows)
    width = len(known.centroid)
    vectors = vectors_of(encoder, views, width)
    names, table = columns_of(views, vectors, known)
    reduced, idle = reduced_rows(rows, views, vectors, known)
    below = views_of(reduced.rows)
    _, reduced_table = columns_of(below, vectors_of(encoder, below, width), known)
    return tuple(names), table, reduced, reduced_table.reshape(len(below), len(names)), idle


def row_of(
    diff: str | Sequence[Hunk],
    review: str,
    references: Sequence[str | PseudoReference] | None = None,
    language: str = "",
) -> Row:
    """A row for the judge. References of origin ``given`` or ``model:...`` (and plain texts) are
    somebody's own account of the change; all others were read off it. ``None`` reads them off
    here."""
    given: list[str] = []
    own: list[str] = []
    for reference in references or ():
        if isinstance(reference, str):
            given.append(reference)
        else:
            told = reference.origin == "given" or reference.origin.startswith("model:")
            (given if told else own).append(reference.text)
    if not own:
        text = diff if isinstance(diff, str) else "".join(hunk.text() for hunk in diff)
        own = [reference.text for reference in read_references(text, language)]
    return Row(diff, review, tuple(own), tuple(given))
