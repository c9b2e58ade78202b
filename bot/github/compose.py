"""From a review's result to exactly what is posted: every limit kept, every anchor checked.

What cannot stand at its place, or is one too many, goes into the review's text: nothing that the
gate let through is lost on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.github.anchors import anchor_problem
from bot.github.markers import comment_marker, with_marker
from bot.github.summary import fit_summary
from bot.github.text import MOST_CHARACTERS, clip, code_span, one_line, quiet
from bot.jobs.forge import DraftComment, DraftReview, Plan
from bot.review.render import held_back
from bot.review.types import Reason, ReviewComment, ReviewResult
from models.change import Change, Coverage

# A review in one request; GitHub has no documented limit, reviewdog's users met none at 30.
MOST_COMMENTS = 30
_MOST_NAMED = 50


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark for the review's text: where it belongs, what it says, why it is not there."""

    path: str
    first: int
    last: int
    body: str
    why: str = ""


class GitHubComposer:
    """Drafts of reviews within GitHub's limits (``bot.jobs.forge.Composer``).

    With ``quiet`` a result without any remark is not posted; without it a review says what was
    read even if there is nothing to remark on.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    def compose(self, result: ReviewResult, plan: Plan, marker: str) -> DraftReview | None:
        """The draft, or ``None`` where nothing was read or nothing is to be said."""
        comments, remarks = place(result.change, result.review.comments, plan.options.max_comments)
        remarks += over_limit(result)
        read = any(f.status in (Coverage.REVIEWED, Coverage.CLIPPED) for f in result.coverage)
        if not comments and not remarks and (self._quiet or not read):
            return None
        body = fit_summary(result, plan.summary)
        if plan.notes:
            body += "\n\n" + "\n".join(f"> {one_line(note, 500)}" for note in plan.notes)
        return DraftReview(review_body(body, remarks, marker), tuple(comments), marker)


def place(
    change: Change, comments: Sequence[ReviewComment], most: int
) -> tuple[list[DraftComment], list[Remark]]:
    """Which comments can be posted in place, and which go into the text, both in order.

    A fingerprint stands once; anchors are checked against ``change``; at most ``most`` (and never
    more than ``MOST_COMMENTS``) are placed.
    """
    placed: list[DraftComment] = []
    moved: list[Remark] = []
    seen: set[str] = set()
    for comment in comments:
        if comment.fingerprint in seen:
            continue
        seen.add(comment.fingerprint)
        start = comment.start_line if comment.start_line != comment.line else None
        problem = anchor_problem(change, comment.path, comment.side, start, comment.line)
        mark = comment_marker(comment.fingerprint)
        room = MOST_CHARACTERS - len(mark) - 2
        if comment.suggestion is not None and len(comment.body) > room:
            # cut short it would still be committable, and wrong
            problem = problem or "too long for a suggestion"
        full = len(placed) >= min(most, MOST_COMMENTS)
        if problem is not None or full:
            moved.append(
                Remark(comment.path, start or comment.line, comment.line, comment.body,
                       problem or "over the limit of comments in place")
            )  # fmt: skip
            continue
        body = with_marker(clip(comment.body, room), mark)
        placed.append(
            DraftComment(comment.path, comment.side, comment.line, body, comment.fingerprint, start)
        )
    return placed, moved


def over_limit(result: ReviewResult) -> list[Remark]:
    """The candidates that were good enough but too many, as remarks for the text."""
    shown = {comment.fingerprint for comment in result.review.comments}
    return [
        Remark(
            judged.candidate.path,
            judged.candidate.start_line,
            judged.candidate.line,
            quiet(judged.candidate.text),
            "over the limit of comments in place",
        )
        for judged in held_back(result.candidates)
        if judged.verdict.reason is Reason.OVER_LIMIT and judged.fingerprint not in shown
    ]


def review_body(summary: str, remarks: Iterable[Remark], marker: str) -> str:
    """The review's text: the summary, the remarks that have no place of their own, the marker.

    Always under 65,536 characters: remarks that do not fit are counted instead, a summary that
    does not fit is cut between lines.
    """
    room = MOST_CHARACTERS - len(marker) - 2
    body = clip(_without(summary, marker), room)
    parts = [_render(remark) for remark in remarks]
    if parts:
        body = _append_details(body, parts, room)
    return with_marker(body, marker)


def move_to_body(draft: DraftReview, moved: Iterable[DraftComment]) -> str:
    """The body of ``draft`` with these of its comments appended, for places GitHub refused."""
    remarks = [
        Remark(
            c.path,
            c.start_line or c.line,
            c.line,
            _without(c.body, comment_marker(c.fingerprint)),
            "GitHub did not take this place",
        )
        for c in moved
    ]
    return review_body(_without(draft.body, draft.marker), remarks, draft.marker)


def _without(body: str, marker: str) -> str:
    """``body`` without ``marker`` as its last line."""
    stripped = body.rstrip()
    return stripped[: -len(marker)].rstrip() if stripped.endswith(marker) else stripped


def _render(remark: Remark) -> str:
    lines = f"{remark.first}" if remark.first == remark.last else f"{remark.first}-{remark.last}"
    why = f" ({remark.why})" if remark.why else ""
    return f"**{code_span(f'{remark.path}:{lines}')}**{why}\n\n{clip(remark.body, 8_000)}"


def _append_details(body: str, parts: Sequence[str], room: int) -> str:
    title = "1 more remark" if len(parts) == 1 else f"{len(parts)} more remarks"
    head = f"\n\n<details>\n<summary>{title}</summary>\n\n"
    tail = "\n\n</details>"
    left = room - len(body) - len(head) - len(tail) - 60
    taken: list[str] = []
    for part in parts[:_MOST_NAMED]:
        cost = len(part) + len("\n\n---\n\n")
        if cost > left:
            break
        taken.append(part)
        left -= cost
    missing = len(parts) - len(taken)
    if not taken:
        note = f"\n\n{title} did not fit here."
        return body + note if len(body) + len(note) <= room else body
    inner = "\n\n---\n\n".join(taken)
    if missing:
        inner += f"\n\n---\n\n{missing} more did not fit here."
    return body + head + inner + tail
