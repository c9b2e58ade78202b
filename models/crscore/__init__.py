"""Grading a review: CRScore as published, and a judge fitted on people's scores.

``CRScore().score(diff, review)`` works offline with the shipped encoder.
"""

from models.crscore.score import CorpusScore, CRScore, corpus_score

__all__ = ["CRScore", "CorpusScore", "corpus_score"]
