"""The numbers that the papers report, in per cent, to stand beside ours.

Zhou et al. (2023), Tables II to V; the Java8G paper for completion. ``None``: not reported.
"""

from __future__ import annotations

from collections.abc import Mapping

Pair = tuple[float, float]

DATA_SETS = ("Trans-Review", "AutoTransform", "T5-Review")
SIZES: Mapping[str, tuple[int, int, int]] = {
    "Trans-Review": (13_756, 1_719, 1_719),
    "AutoTransform": (118_039, 14_750, 14_750),
    "T5-Review": (134_239, 16_780, 16_780),
}
"""Training, validation and test records."""

TITLES: Mapping[str, str] = {
    "trans_review": "Trans-Review",
    "autotransform": "AutoTransform",
    "t5_review": "T5-Review",
    "codebert": "CodeBERT",
    "graphcodebert": "GraphCodeBERT",
    "codet5": "CodeT5",
    "codereviewer": "CodeReviewer format",
    "java8g": "Java8G",
    "codegpt": "CodeGPT",
    "retrieval": "Retrieval",
    "constant": "Constant comment",
    "copy": "Copy of the source",
    "default": "Marginalia (shipped)",
}

CRB: Mapping[str, tuple[Pair | None, Pair | None, Pair | None]] = {
    "trans_review": ((3.5, -1.1), (0.1, -16.6), (0.1, -151.2)),
    "autotransform": ((6.6, 49.7), (10.2, 29.9), (0.8, 9.7)),
    "t5_review": ((7.4, -14.9), (13.9, -71.5), (3.3, 13.8)),
    "codebert": ((8.3, 49.8), (8.6, -75.3), (1.1, 22.3)),
    "graphcodebert": ((6.7, 50.6), (6.1, -80.9), (0.9, 22.6)),
    "codet5": ((8.8, 41.8), (13.7, -67.8), (5.4, 25.6)),
}
"""Table II: exact match and Edit Progress by data set."""

CRA: Mapping[str, tuple[Pair | None, Pair | None, Pair | None]] = {
    "trans_review": ((13.5, 52.5), None, (0.3, -120.4)),
    "t5_review": ((24.4, 65.6), None, (9.0, 38.4)),
    "codebert": ((20.2, 57.8), None, (11.3, 35.2)),
    "graphcodebert": ((19.2, 55.9), None, (11.8, 35.8)),
    "codet5": ((30.2, 66.8), None, (16.1, 41.9)),
}
"""Table III: exact match and Edit Progress by data set."""

RCG: Mapping[str, tuple[Pair | None, Pair | None, Pair | None]] = {
    "t5_review": ((2.0, 2.5), None, (2.0, 2.0)),
    "codebert": ((0.5, 1.4), None, (0.8, 0.5)),
    "graphcodebert": ((0.3, 1.6), None, (0.9, 0.6)),
    "codet5": ((1.1, 1.4), None, (1.2, 1.8)),
}
"""Table IV: exact match and BLEU by data set."""

INTERROGATIVE: Mapping[str, Pair] = {
    "codet5": (0.24, 1.60),
    "t5_review": (0.84, 3.02),
}
"""Table V: exact match of RCG on T5-Review's data with and without interrogative comments."""

INTERROGATIVE_SHARE: Mapping[str, float] = {"codet5": 33.8, "t5_review": 69.7}
"""Interrogative texts among those that the model was pre-trained on."""

FULL_MATCH: Mapping[str, float] = {"java8g": 55.0, "codegpt": 26.5}
"""Share of completion cases with at least one full match."""

STORED_PREDICTIONS: Mapping[str, float] = {"crb": 2.91, "cra": 12.16}
"""Exact match of Trans-Review's own stored predictions on its test set, beam 1."""
