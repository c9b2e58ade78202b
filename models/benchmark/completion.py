"""Java8G's measurement: completions at triggers, judged by DG and edit similarity a category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from models.metrics import DG, EditSimilarity, Record
from models.metrics.base import mean
from models.metrics.dg import dg
from models.systems.causal import Completion
from models.systems.completion_cases import Case, long_suggestion, short_suggestion

_CUTS: dict[str, Callable[[str], str]] = {"long": long_suggestion, "short": short_suggestion}


def evaluate_completions(
    cases: Sequence[Case], completions: Sequence[Completion]
) -> dict[str, Any]:
    """DG, its unclipped variant and edit similarity by category and length of the suggestion.

    A case is judged by its best suggestion of each length (two sequences are shown to a person,
    who takes the better). ``full_match`` is the share of cases in which at least one suggestion,
    long or short, is wholly right (``unclipped``: gives the whole line). Fractions throughout.
    """
    rows: dict[str, dict[str, list[Record]]] = {}
    full: dict[str, list[bool]] = {"clipped": [], "unclipped": []}
    for case, completion in zip(cases, completions, strict=True):
        wanted = case.expected.strip()
        every: list[str] = []
        for length, cut in _CUTS.items():
            texts = [cut(text).strip() for text in completion.texts]
            every += texts
            best = max(texts, key=lambda text: dg(text, wanted))
            record = Record(case.context[-80:], wanted, best, category=case.category)
            for category in (case.category.value, "all"):
                rows.setdefault(category, {}).setdefault(length, []).append(record)
        full["clipped"].append(any(text and dg(text, wanted) == 1 for text in every))
        full["unclipped"].append(any(dg(text, wanted, clipped=False) == 1 for text in every))
    return {
        "n": len(cases),
        "full_match": {name: mean([float(hit) for hit in hits]) for name, hits in full.items()},
        "categories": {
            category: {length: _scores(records) for length, records in sorted(by_length.items())}
            for category, by_length in sorted(rows.items())
        },
        "signatures": {
            score.name: str(score.signature())
            for score in (DG(), DG(clipped=False), EditSimilarity())
        },
    }


def _scores(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "n": len(records),
        "dg": DG().score(records).value,
        "dg_unclipped": DG(clipped=False).score(records).value,
        "edit_similarity": EditSimilarity().score(records).value,
    }
