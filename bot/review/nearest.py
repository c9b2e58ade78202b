"""What a remark is nearest to, for people to read: never the remark itself.

A finding is one of the smells that remarks are held against, so the pseudo-reference most similar
to it is the finding, word for word. That is right for the score (a review that says it is
relevant) and tells a reader nothing. So for what an analyzer says, the nearest other one is shown,
where there is one above the threshold from which two sentences match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from models.review_types import (
    Candidate,
    CandidateKind,
    PseudoReference,
    ReferenceKind,
    Score,
)

if TYPE_CHECKING:
    from models.crscore import CRScore


def nearest_others(
    candidates: Sequence[Candidate],
    scores: Sequence[Score],
    references: Sequence[Sequence[PseudoReference]],
    scorer: CRScore,
) -> list[Score]:
    """The scores with the nearest other pseudo-reference where the nearest is the candidate's own.

    ``references`` are those that each candidate was scored against. Without another one above the
    scorer's threshold ``nearest`` is ``None`` and ``similarity`` 0. Con, Comp and Rel stay.
    """
    result = list(scores)
    own = [
        index
        for index, (candidate, score) in enumerate(zip(candidates, scores, strict=True))
        if score.nearest is not None and is_own(candidate, score.nearest)
    ]
    rows = [
        (
            candidates[index].text,
            [one for one in references[index] if not is_own(candidates[index], one)],
        )
        for index in own
    ]
    for index, other in zip(own, scorer.score_reference_batch(rows), strict=True):
        near = other.similarity > scorer.threshold
        result[index] = replace(
            scores[index],
            nearest=other.nearest if near else None,
            similarity=other.similarity if near else 0.0,
        )
    return result


def is_own(candidate: Candidate, reference: PseudoReference) -> bool:
    """Whether a pseudo-reference is what the candidate's own rule says, here or near by."""
    return (
        candidate.kind is not CandidateKind.COMMENT
        and reference.kind is ReferenceKind.SMELL
        and (
            reference.origin == candidate.origin or reference.text.split() == candidate.text.split()
        )
    )


def none_near(kind: str) -> str:
    """What stands in the nearest one's place where there is none, by the candidate's kind."""
    if kind == CandidateKind.COMMENT:
        return "no claim and no smell"
    return "no other claim or smell is near"
