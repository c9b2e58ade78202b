"""What a score of reviews should beat: similarity to a reference review, and mere length.

Each takes a review and a reference review and gives a number; higher is more alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from models.crscore.encoder import SentenceEncoder

Baseline = Callable[[str, str], float]


def bleu(review: str, reference: str) -> float:
    """Sentence BLEU by sacrebleu (effective order, its default smoothing), 0 to 1."""
    from sacrebleu import sentence_bleu

    return float(sentence_bleu(review, [reference]).score) / 100


def chrf(review: str, reference: str) -> float:
    """Sentence chrF by sacrebleu, 0 to 1."""
    from sacrebleu import sentence_chrf

    return float(sentence_chrf(review, [reference]).score) / 100


def rouge_l(review: str, reference: str) -> float:
    """ROUGE-L: F1 of the longest common subsequence of lower-cased words (Lin 2004)."""
    from rapidfuzz.distance import LCSseq

    left, right = review.lower().split(), reference.lower().split()
    if not left or not right:
        return 0.0
    common = int(LCSseq.similarity(left, right))
    return 2 * common / (len(left) + len(right))


def edit_similarity(review: str, reference: str) -> float:
    """1 minus the normalised Levenshtein distance of characters."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(review, reference))


REFERENCE_BASELINES: dict[str, Baseline] = {
    "BLEU": bleu,
    "chrF": chrf,
    "ROUGE-L": rouge_l,
    "edit similarity": edit_similarity,
}


def bert_scores(
    encoder: SentenceEncoder, reviews: Sequence[str], references: Sequence[str]
) -> list[float]:
    """BERTScore F1 (Zhang et al. 2020, no idf, no rescaling) with the tokens of any encoder."""
    unique = list(dict.fromkeys((*reviews, *references)))
    vectors = {
        text: token.vectors / np.linalg.norm(token.vectors, axis=1, keepdims=True)
        for text, token in zip(unique, encoder.token_vectors(unique), strict=True)
    }
    scores = []
    for review, reference in zip(reviews, references, strict=True):
        similarity = vectors[review] @ vectors[reference].T
        precision = float(similarity.max(axis=1).mean())
        recall = float(similarity.max(axis=0).mean())
        scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return scores
