"""The judge: how relevant would a person find this review of this change?

Fitted on people's scores (1 to 5) of reviews by ten systems; see the model card beside its
weights for what it was fitted on, how it was checked and where it fails. It looks at the review,
the change, the claims read off the change and, where somebody gives them, pseudo-references. It
needs no large model: sentence vectors of the shipped encoder, words and a kernel regression.

What a person rewards grows with length, and so would any fitted score; the judge takes the excess
off. And it looks at the review without its sentences that say nothing of the change, and at every
part in between: the lowest of these scores, less a little for each sentence left out, is the
review's. So a sentence that is found to say nothing always lowers the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from models.crscore.kernel import Matrix
from models.crscore.score import read_references
from models.crscore.weights import JudgeError, Weights, load_weights, settle
from models.review_types import PseudoReference, ReferenceKind

__all__ = [
    "Judge",
    "JudgeError",
    "Judgement",
    "length_ranks",
    "row_of",
    "tables_of",
    "vectors_of",
]

_CHUNK = 512


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
        self.signature = f"judge:3@{self.weights.sha256[:12]}"

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
    somebody's own account of the change; all others were read off it. Where no claim is among
    those, claims are read off here."""
    given: list[str] = []
    own: list[str] = []
    read = False
    for reference in references or ():
        if isinstance(reference, str):
            given.append(reference)
        else:
            told = reference.origin == "given" or reference.origin.startswith("model:")
            (given if told else own).append(reference.text)
            read |= not told and reference.kind is ReferenceKind.CLAIM
    if not read:
        text = diff if isinstance(diff, str) else "".join(hunk.text() for hunk in diff)
        own = [reference.text for reference in read_references(text, language)] + own
    return Row(diff, review, tuple(own), tuple(given))
