"""CRScore: conciseness, comprehensiveness and relevance of a review (CRScore, section 3.2).

With S the cosine of review sentences and pseudo-references and tau the threshold:

- Con = share of review sentences whose best match is above tau (equation 1),
- Comp = share of pseudo-references that any sentence matches above tau (equation 2),
- Rel = harmonic mean of the two, 0 where both are 0 (equation 3).

A corpus has two readings, and both are here: the mean of Rel over reviews (the paper's table) and
the harmonic mean of mean Con and mean Comp (what the published scorer prints).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from models.crscore.encoder import Encoder, SentenceEncoder, Variant, Vectors
from models.crscore.sentences import split_sentences
from models.crscore.threshold import DEFAULT_RULE, Rule, find_threshold
from models.review_types import PseudoReference, ReferenceKind, Score

VERSION = "1"
"""Version of the scoring code; it changes when a score of the same inputs could change."""


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """Means over reviews, as fractions: ``rel`` is the mean of each review's own Rel, and
    ``rel_of_means`` the harmonic mean of ``con`` and ``comp``."""

    reviews: int
    con: float
    comp: float
    rel: float
    rel_of_means: float


def harmonic_mean(first: float, second: float) -> float:
    """Harmonic mean of two fractions; 0 where both are 0."""
    return 2 * first * second / (first + second) if first + second else 0.0


def similarity_scores(similarity: Vectors, threshold: float) -> tuple[float, float, float]:
    """(Con, Comp, Rel) of a matrix of similarities, shape (review sentences, references).

    Above means above: a similarity equal to the threshold is no match. An empty side scores 0.
    """
    if not similarity.size:
        return 0.0, 0.0, 0.0
    match = similarity > threshold
    con = float(match.any(axis=1).mean())
    comp = float(match.any(axis=0).mean())
    return con, comp, harmonic_mean(con, comp)


def corpus_score(scores: Iterable[Score]) -> CorpusScore:
    """Both corpus readings of a set of scores; an empty set is all 0."""
    rows = np.array([(score.con, score.comp, score.rel) for score in scores], dtype=np.float64)
    if not len(rows):
        return CorpusScore(0, 0.0, 0.0, 0.0, 0.0)
    con, comp, rel = (float(value) for value in rows.mean(axis=0))
    return CorpusScore(len(rows), con, comp, rel, harmonic_mean(con, comp))


def given_references(claims: Iterable[str | PseudoReference]) -> tuple[PseudoReference, ...]:
    """Plain texts as pseudo-references of origin ``given``; references pass through."""
    return tuple(
        claim
        if isinstance(claim, PseudoReference)
        else PseudoReference(ReferenceKind.CLAIM, claim, origin="given")
        for claim in claims
    )


class CRScore:
    """The score, with one encoder, one variant and one threshold.

    ``encoder`` is an encoder or a name (default: the shipped MiniLM). ``variant`` is ``paper``
    (every text has its own stop-word mask; an empty review or no references score 0) or
    ``reference`` (the published code: the mask of the first text of each side; an empty side is
    one empty sentence). ``threshold`` is tau; ``None`` takes the stored one of ``rule``.

    >>> CRScore().score("@@ -1 +1 @@\\n-a = 1\\n+a = 2", "Why does a become 2?")  # doctest: +SKIP
    """

    def __init__(
        self,
        encoder: Encoder | str | None = None,
        variant: Variant = "paper",
        threshold: float | None = None,
        rule: Rule = DEFAULT_RULE,
    ) -> None:
        if encoder is None or isinstance(encoder, str):
            encoder = SentenceEncoder(encoder) if encoder else SentenceEncoder()
        if variant not in ("paper", "reference"):
            raise ValueError(f"variant {variant!r}: use 'paper' or 'reference'")
        if threshold is None:
            threshold = find_threshold(encoder, variant, rule)
        elif not -1.0 <= threshold <= 1.0:
            raise ValueError(f"threshold {threshold}: a cosine lies between -1 and 1")
        self.encoder: Encoder = encoder
        self.variant: Variant = variant
        self.threshold = float(threshold)

    def signature(self, references: Sequence[PseudoReference] = ()) -> str:
        """How a number was made, in sacrebleu's manner: ``key:value`` joined by ``|``.

        ``refs`` names where the pseudo-references came from (origins up to the first colon).
        """
        origins = sorted({reference.origin.partition(":")[0] or "?" for reference in references})
        parts = {
            "crscore": VERSION,
            "var": self.variant,
            "tau": f"{self.threshold:.4f}",
            "enc": f"{self.encoder.name}@{self.encoder.sha256[:12]}",
            "dtype": self.encoder.dtype,
            "lib": self.encoder.library.replace(":", "-"),
            "refs": "+".join(origins) or "none",
        }
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def score(
        self,
        diff: str,
        review: str,
        claims: Sequence[str | PseudoReference] | None = None,
        language: str = "",
    ) -> Score:
        """The score of one review of a change given as a diff or a bare hunk.

        ``claims`` are the pseudo-references to score against; ``None`` reads them off the change.
        """
        return self.score_batch([(diff, review, claims)], language)[0]

    def score_batch(
        self,
        rows: Sequence[tuple[str, str, Sequence[str | PseudoReference] | None]],
        language: str = "",
    ) -> list[Score]:
        """Scores of (diff, review, claims) rows; equal sentences are encoded once."""
        return self.score_reference_batch(
            [
                (review, read_references(diff, language) if claims is None else claims)
                for diff, review, claims in rows
            ]
        )

    def score_references(self, review: str, references: Sequence[PseudoReference]) -> Score:
        """The score of one review against pseudo-references that are already at hand."""
        return self.score_reference_batch([(review, references)])[0]

    def score_reference_batch(
        self, rows: Sequence[tuple[str, Sequence[str | PseudoReference]]]
    ) -> list[Score]:
        """Scores of (review, pseudo-references) rows, in order."""
        given = [(review, given_references(references)) for review, references in rows]
        groups: list[list[str]] = []
        for review, references in given:
            groups.append(self._side(split_sentences(review)))
            groups.append(self._side([reference.text for reference in references]))
        # A side that many rows share (one diff's claims) is one group: encoded and pooled once.
        unique = list(dict.fromkeys(tuple(group) for group in groups))
        filled = [group for group in unique if group]
        vectors = dict(zip(filled, self.encoder.encode_groups(filled, self.variant), strict=True))
        return [
            self._one(vectors, groups[2 * i], groups[2 * i + 1], references)
            for i, (_, references) in enumerate(given)
        ]

    def _side(self, texts: list[str]) -> list[str]:
        return texts or ([""] if self.variant == "reference" else [])

    def _one(
        self,
        vectors: dict[tuple[str, ...], Vectors],
        sentences: list[str],
        texts: list[str],
        references: tuple[PseudoReference, ...],
    ) -> Score:
        signature = self.signature(references)
        if not sentences or not texts:
            return Score(0.0, 0.0, 0.0, signature)
        similarity = vectors[tuple(sentences)] @ vectors[tuple(texts)].T
        con, comp, rel = similarity_scores(similarity, self.threshold)
        best = int(similarity.max(axis=0).argmax())
        return Score(
            con=con,
            comp=comp,
            rel=rel,
            signature=signature,
            nearest=references[best] if references else None,
            similarity=float(similarity.max()),
        )


def read_references(diff: str, language: str = "") -> tuple[PseudoReference, ...]:
    """The pseudo-references that can be read off a change itself."""
    from models.crscore.claims import claims_of_diff

    return tuple(claims_of_diff(diff, language))
