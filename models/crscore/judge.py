"""The judge: how relevant would a person find this review of this change?

Fitted on people's scores (1 to 5) of reviews by ten systems; see the model card beside its
weights for what it was fitted on, how it was checked and where it fails. It looks at the review,
the change, the claims read off the change and, where somebody gives them, pseudo-references. It
needs no large model: sentence vectors of the shipped encoder, words, and a kernel regression.

What a person rewards grows with length, and so would any fitted score; the judge takes the excess
off, and takes off a little for each sentence that says nothing of the change.
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
from models.crscore.features import Background, Row, View, columns_of, needed_texts, views_of
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
    order is that of ``probability``); ``idle`` sentences that say nothing of the change.
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

    def raw(self, outputs: Matrix, lengths: Matrix, idle: Matrix, idle_cost: float) -> Matrix:
        """Final scores (n,) of regression outputs (n, targets)."""
        standard = (outputs[:, 0] - self.center) / self.spread
        return np.asarray(standard - idle_cost * np.log1p(idle) - self.slope * lengths)

    def probability(self, raw: Matrix) -> Matrix:
        """Calibrated probability of 3 or more, strictly increasing in ``raw``."""
        factor, offset = self.platt
        return np.asarray(1.0 / (1.0 + np.exp(-(factor * raw + offset))))

    def relevance(self, raw: Matrix) -> Matrix:
        """Expected score of a person, 1 to 5."""
        return np.asarray(np.interp(raw, self.knots[:, 0], self.knots[:, 1]))


@dataclass(frozen=True, slots=True)
class Weights:
    """Everything that fitting produces; see ``models.crscore.fit_judge``.

    ``lengths`` are evenly spaced quantiles of review length in characters.
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
        "format": 1,
        "encoder_sha256": weights.encoder_sha256,
        "safetensors_sha256": _sha256(folder / "judge.safetensors"),
        "names": list(weights.names),
        "targets": list(TARGETS),
        "idle_cost": weights.idle_cost,
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
        self.signature = f"judge:1@{self.weights.sha256[:12]}"

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
        views = views_of(rows, self.weights.background)
        width = len(self.weights.background.centroid)
        names, table = columns_of(
            views, vectors_of(self.encoder, views, width), self.weights.background
        )
        if rows and tuple(names) != self.weights.names:
            raise JudgeError("the judge's weights were fitted with other columns; fit it again")
        scaled = self.weights.scaling.apply(table)
        lengths = length_ranks(self.weights.lengths, [row.review for row in rows])
        idle = np.array([view.idle for view in views], dtype=np.float64)
        found: list[Judgement | None] = [None] * len(rows)
        for name, head in self.weights.heads.items():
            here = [i for i, row in enumerate(rows) if bool(row.references) is (name == "claims")]
            if not here:
                continue
            outputs = head.regression.predict(scaled[here][:, head.columns])
            raw = head.raw(outputs, lengths[here], idle[here], self.weights.idle_cost)
            probability, relevance = head.probability(raw), head.relevance(raw)
            for place, i in enumerate(here):
                blank = not any(map(str.isalnum, rows[i].review))
                con, comp = np.clip(outputs[place, 1:3], 1.0, 5.0)
                found[i] = Judgement(
                    probability=0.0 if blank else float(probability[place]),
                    relevance=1.0 if blank else float(relevance[place]),
                    conciseness=1.0 if blank else float(con),
                    comprehensiveness=1.0 if blank else float(comp),
                    raw=float(raw[place]),
                    idle=views[i].idle,
                )
        return [judgement for judgement in found if judgement is not None]


def row_of(
    diff: str | Sequence[Hunk],
    review: str,
    references: Sequence[str | PseudoReference] | None = None,
    language: str = "",
) -> Row:
    """A row for the judge. References of origin ``given`` (and plain texts) are somebody's own
    account of the change; all others were read off it. ``None`` reads them off here."""
    given: list[str] = []
    own: list[str] = []
    for reference in references or ():
        if isinstance(reference, str):
            given.append(reference)
        else:
            (given if reference.origin == "given" else own).append(reference.text)
    if not own:
        text = diff if isinstance(diff, str) else "".join(hunk.text() for hunk in diff)
        own = [reference.text for reference in read_references(text, language)]
    return Row(diff, review, tuple(own), tuple(given))
