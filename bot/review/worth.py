"""What a candidate is worth: the probability that a person would want it, and the gate on it.

One number a candidate, "how sure", is held against the operator's one number. Where it comes from
depends on the kind: a finding's from its severity, a machine fix's from its finding, a model's
revision from the calibration on the model's card (how often revisions of this probability were
exactly what people wrote), a comment's from the judge and the model's own confidence, whichever
is less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.review.origins import by_generator
from bot.review.types import Reason, Verdict
from models.crscore.encoder import Encoder
from models.review_types import (
    Candidate,
    CandidateKind,
    PseudoReference,
    ReferenceKind,
    Score,
    Severity,
)

FINDING_PRIOR: Mapping[Severity, float] = {
    Severity.ERROR: 0.9,
    Severity.WARNING: 0.7,
    Severity.INFO: 0.55,
}
"""How sure a finding of a rule that is on by default is, before any team has answered."""

RESTATES = 0.85
"""Cosine from which a sentence says the same as a claim read off the change."""

SAME_REMARK = 0.8
"""Cosine from which two remarks on the same lines are one."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often a revision was right, by the model's probability; both ascend.

    From the model's card; without one, a revision is worth its own probability.
    """

    probability: tuple[float, ...] = ()
    precision: tuple[float, ...] = ()

    def __call__(self, probability: float) -> float:
        """The precision at a probability, by linear interpolation."""
        if not self.probability:
            return probability
        return float(np.interp(probability, self.probability, self.precision))

    @classmethod
    def from_card(cls, card: Mapping[str, object]) -> Calibration:
        """The calibration of a task card, empty where it has none."""
        rows = card.get("calibration")
        if not isinstance(rows, list):
            return cls()
        pairs = sorted((float(row[0]), float(row[1])) for row in rows)
        return cls(tuple(p for p, _ in pairs), tuple(q for _, q in pairs))


def sureness(candidate: Candidate, score: Score, calibration: Calibration) -> float:
    """The probability (0 to 1) that a person would want this candidate."""
    if candidate.kind is CandidateKind.COMMENT:
        # both must be sure: a judge fitted on larger models' comments has not seen a small one's
        return min(candidate.confidence, 1.0 if score.judge is None else score.judge)
    if is_model(candidate):
        return calibration(candidate.confidence)
    return FINDING_PRIOR[candidate.severity]


def is_model(candidate: Candidate) -> bool:
    """Whether a generator wrote it, not an analyzer."""
    return by_generator(candidate.origin)


def check_worth(
    candidate: Candidate,
    score: Score,
    restated: float,
    worth: float,
    sure: float,
) -> Verdict | None:
    """The part of the gate that moves with ``sure``; at 0 it lets everything through.

    Args:
        candidate: what would be said.
        score: its CRScore, with the judge's probability where there is one.
        restated: how closely its least new-saying sentence comes to a claim (see ``restating``).
        worth: the probability that this team accepts it (``sureness`` for a new team).
        sure: the operator's number, 0 to 1.
    """
    if sure <= 0:
        return None
    if candidate.kind is CandidateKind.COMMENT:
        if restated >= RESTATES:
            return Verdict(Reason.RESTATES_CHANGE, "it only says what the change does")
        if score.rel == 0:
            return Verdict(Reason.NOT_RELEVANT, "no sentence is about this change")
        if len(candidate.text.split()) < 4:
            return Verdict(Reason.NOT_SPECIFIC, "too short to act on")
    if worth < sure:
        return Verdict(Reason.NOT_CONFIDENT, f"{worth:.2f} sure; {sure:.2f} asked for")
    return None


def restating(
    sentences: Sequence[str], claims: Sequence[PseudoReference], encoder: Encoder
) -> float:
    """How far a remark only restates the change: 1 means every sentence is one of its claims.

    The smallest, over the sentences, of the largest cosine with a claim: a remark with one
    sentence that no claim says is more than a restatement.
    """
    texts = [claim.text for claim in claims if claim.kind is ReferenceKind.CLAIM]
    if not sentences or not texts:
        return 0.0
    said, known = encoder.encode_groups([list(sentences), texts], "paper")
    return float((said @ known.T).max(axis=1).min())


def same_words(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which pairs of texts have the same words: what ``same_remarks`` is without an encoder."""
    words = np.array([" ".join(text.lower().split()) for text in texts], dtype=object)
    return np.asarray(words[:, None] == words[None, :], dtype=bool)


def same_remarks(texts: Sequence[str], encoder: Encoder) -> npt.NDArray[np.bool_]:
    """Which pairs of texts are one remark: a boolean matrix."""
    if not texts:
        return np.zeros((0, 0), dtype=bool)
    vectors = np.concatenate(encoder.encode_groups([[text] for text in texts], "paper"))
    return np.asarray(vectors @ vectors.T >= SAME_REMARK)
