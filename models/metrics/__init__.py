"""Metrics of code review automation, each with its signature; see ``models.metrics.base``.

``correlation`` (scipy) is imported from its own module, so that the rest stays light.
"""

from models.metrics.base import Metric, Record, Score, Signature
from models.metrics.bleu import Bleu, SmoothedBleu4, smoothed_bleu4
from models.metrics.dg import DG, dg
from models.metrics.edit_progress import EditProgress, edit_progress, token_distance
from models.metrics.edit_similarity import EditSimilarity, NormalisedEditDistance
from models.metrics.exact_match import ExactMatch, PerfectAtK
from models.metrics.interrogative import InterrogativeSplit, is_interrogative
from models.metrics.report import PredictionsError, evaluate, read_predictions

__all__ = [
    "DG",
    "Bleu",
    "EditProgress",
    "EditSimilarity",
    "ExactMatch",
    "InterrogativeSplit",
    "Metric",
    "NormalisedEditDistance",
    "PerfectAtK",
    "PredictionsError",
    "Record",
    "Score",
    "Signature",
    "SmoothedBleu4",
    "dg",
    "edit_progress",
    "evaluate",
    "is_interrogative",
    "read_predictions",
    "smoothed_bleu4",
    "token_distance",
]
