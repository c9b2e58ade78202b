"""The formats by name, and the level at which a review counts as failed."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from bot.review.formats.annotations import to_annotations
from bot.review.formats.junit import to_junit
from bot.review.formats.rdjson import to_rdjson, to_rdjsonl
from bot.review.formats.sarif import to_sarif
from bot.review.types import ReviewResult
from models.review_types import Severity


class Format(StrEnum):
    """What ``--format`` takes."""

    SARIF = "sarif"
    RDJSON = "rdjson"
    RDJSONL = "rdjsonl"
    GITHUB = "github"
    JUNIT = "junit"


_WRITERS: dict[Format, Callable[[ReviewResult], str]] = {
    Format.SARIF: to_sarif,
    Format.RDJSON: to_rdjson,
    Format.RDJSONL: to_rdjsonl,
    Format.GITHUB: to_annotations,
    Format.JUNIT: to_junit,
}
_ORDER = (Severity.INFO, Severity.WARNING, Severity.ERROR)


def render(result: ReviewResult, form: Format) -> str:
    """The review in this format, a final line feed included where anything is said."""
    return _WRITERS[form](result)


def reaches(result: ReviewResult, level: Severity) -> bool:
    """Whether a posted comment is at least this severe."""
    least = _ORDER.index(level)
    return any(
        _ORDER.index(comment.source.candidate.severity) >= least
        for comment in result.review.comments
    )
