"""A review as JSON; the form is published in ``bot/schemas/review.schema.json``."""

from __future__ import annotations

import json
from typing import Any

from bot.review.render import comment_text, suggestion_text, whole
from bot.review.types import JudgedCandidate, ReviewResult
from models.review_types import PseudoReference, Score

SCHEMA = "review.schema.json"


def to_json(result: ReviewResult, *, explain: bool = False) -> str:
    """The review as one JSON document with a final line feed."""
    return json.dumps(to_dict(result, explain=explain), indent=2, ensure_ascii=False) + "\n"


def to_dict(result: ReviewResult, *, explain: bool = False) -> dict[str, Any]:
    """The review as plain values; with ``explain`` every candidate and its verdict too."""
    document: dict[str, Any] = {
        "repository": result.change.repo,
        "base": result.change.base,
        "head": result.change.head,
        "signature": result.review.signature,
        "coverage": [
            {"path": whole(file.path), "status": file.status.value, "note": whole(file.note)}
            for file in result.coverage
        ],
        "comments": [_candidate(comment.source) for comment in result.review.comments],
        "notes": [whole(note) for note in result.notes],
        "timings": {stage: round(value, 4) for stage, value in result.timings.items()},
    }
    if explain:
        document["candidates"] = [
            {
                **_candidate(judged),
                "rank": judged.rank,
                "verdict": "posted" if judged.verdict.posted else "rejected",
                "reason": judged.verdict.reason.value,
                "detail": whole(judged.verdict.detail),
                "confidence": _digits(judged.candidate.confidence),
                "weakest": _digits(judged.candidate.weakest),
                "nearest": _reference(judged.score.nearest),
                "similarity": _digits(judged.score.similarity),
            }
            for judged in result.candidates
        ]
        document["references"] = [_reference(one) for one in result.references]
    return document


def _candidate(judged: JudgedCandidate) -> dict[str, Any]:
    candidate = judged.candidate
    suggestion = suggestion_text(candidate)
    return {
        "path": whole(candidate.path),
        "side": candidate.side.value,
        "start_line": candidate.start_line,
        "line": candidate.line,
        "body": whole(comment_text(candidate)),
        "kind": candidate.kind.value,
        "origin": candidate.origin,
        "severity": candidate.severity.value,
        "suggestion": None if suggestion is None else whole(suggestion),
        "scores": _scores(judged.score),
        "signature": judged.score.signature,
        "fingerprint": judged.fingerprint,
    }


def _scores(score: Score) -> dict[str, float | None]:
    judge = None if score.judge is None else _digits(score.judge)
    return {
        "con": _digits(score.con),
        "comp": _digits(score.comp),
        "rel": _digits(score.rel),
        "judge": judge,
    }


def _digits(value: float) -> float:
    """Six digits: what lies behind them differs between two runs, by the order of additions."""
    return round(value, 6)


def _reference(reference: PseudoReference | None) -> dict[str, Any] | None:
    if reference is None:
        return None
    return {
        "kind": reference.kind.value,
        "text": whole(reference.text),
        "origin": reference.origin,
        "path": whole(reference.path),
        "lines": list(reference.lines),
    }
