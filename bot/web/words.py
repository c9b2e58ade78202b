"""Values in words: verdicts, states, times, numbers, Markdown. Filters of the templates."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from bot.review.claims import origin_in_words
from bot.review.nearest import none_near

REASONS = {
    "posted": "Posted",
    "outside-hunk": "Its line is not in the diff",
    "wrong-side": "A suggestion on deleted code",
    "no-change": "The suggestion changes nothing",
    "does-not-apply": "The suggestion does not apply to the file",
    "breaks-syntax": "The file would not parse with it",
    "adds-finding": "An analyzer would object to it",
    "indentation": "It would lose the indentation",
    "comment-overwritten": "It would overwrite a comment",
    "overlaps": "Overlaps a better suggestion",
    "empty": "Without words",
    "repetition": "The model repeated itself",
    "too-long": "Too long",
    "unsafe-text": "Text that is not posted",
    "restates-change": "Only restates the change",
    "not-relevant": "Not relevant enough to the change",
    "not-confident": "Not sure enough",
    "not-specific": "Not specific to this code",
    "duplicate": "Says what another one says",
    "already-said": "Said before on this pull request",
    "dismissed-before": "Dismissed by a person before",
    "over-limit": "More than the review's limit of comments",
    "rule-limit": "Its rule was said often enough",
    "rule-off": "Its rule is off",
    "undoes-change": "Undoes what the author did",
    "in-deleted-code": "About code that is gone",
}
REVIEW_STATES = {
    "submitted": "Posted",
    "pending": "Begun on GitHub",
    "drafted": "Drafted",
    "empty": "Nothing to say",
    "shadow": "Shadow: kept, not posted",
    "waiting": "Waits for a person",
}
OUTCOMES = {
    "accepted-as-is": "accepted as is",
    "accepted-edited": "accepted, edited",
    "addressed-otherwise": "addressed otherwise",
    "dismissed": "dismissed",
    "outdated": "outdated",
    "open": "open",
}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
# no HTML of the author's, no images: what is fetched would tell others who reads
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")


def markdown(text: str) -> Markup:
    """A remark's Markdown as HTML that is safe to show."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 (html is off: all of it is escaped)


def when(at: float | datetime | None) -> Markup:
    """A time as "3 h ago", with the time itself in UTC under it."""
    if at is None:
        return Markup("–")
    seconds = at.timestamp() if isinstance(at, datetime) else at
    stamp = datetime.fromtimestamp(seconds, UTC)
    full = stamp.strftime("%Y-%m-%d %H:%M UTC")
    age = time.time() - seconds
    words = full if age > 60 * 86_400 or age < 0 else "just now"
    if words == "just now":
        words = next(
            (f"{int(age // size)} {unit} ago" for size, unit in _UNITS if age >= size), words
        )
    iso = stamp.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(iso, full, words)


def decimal(value: float | None, digits: int = 2) -> str:
    """A score as ``0.42``; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A share as ``42 %``."""
    return "–" if value is None else f"{100 * value:.0f}\u202f%"


def lines(start: int | None, end: int) -> str:
    """``line 3`` or ``lines 3 to 5``."""
    return f"line {end}" if start is None or start == end else f"lines {start} to {end}"


def breakable(text: str) -> Markup:
    """A path or rule that may be broken after its separators."""
    made = escape(text)
    for sign in ("/", ":", "_"):
        made = made.replace(sign, Markup(f"{sign}<wbr>"))  # noqa: S704 (a constant)
    return made


def add_filters(pages: Blueprint) -> None:
    """Give the templates these filters."""
    filters: dict[str, Any] = {
        "markdown": markdown,
        "when": when,
        "decimal": decimal,
        "origin": origin_in_words,
        "none_near": none_near,
        "percent": percent,
        "breakable": breakable,
        "reason": lambda value: REASONS.get(value, value),
        "review_state": lambda value: REVIEW_STATES.get(value, value),
        "outcome": lambda value: OUTCOMES.get(value, value),
        "short": lambda sha: str(sha)[:10],
    }
    for name, function in filters.items():
        pages.add_app_template_filter(function, name)
    pages.add_app_template_global(lines, "line_words")
