"""Commands in comments, and what becomes of our own comments."""

from __future__ import annotations

from bot.events import (
    AnswerComment,
    CommentChanged,
    Context,
    Routed,
    Routes,
    RunCommand,
    by_person,
    ignored,
    moment,
    pull_ref,
)
from bot.jobs.forge import Comment
from bot.payload import Payload

PREFIX = "/marginalia"
NO_COMMAND = "no command"


def on_issue(payload: Payload, context: Context) -> Routed:
    """A comment in a pull request's conversation."""
    if not payload.has("issue.pull_request"):
        return ignored("a comment on an issue")
    return _command(payload, context, "issue_comment", "comment", "issue.number")


def on_diff(payload: Payload, context: Context) -> Routed:
    """A comment in a review thread: a command, or a person's wish."""
    routed = _command(payload, context, "review_comment", "comment", "pull_request.number")
    if routed.actions or routed.reason != NO_COMMAND or payload.has("comment.in_reply_to_id"):
        return routed
    if payload.maybe_text("comment.user.type") == "Bot" or not payload.has("comment.line"):
        return routed
    comment = _comment(payload, "review_comment", "comment")
    return Routed((AnswerComment(pull_ref(payload, "pull_request.number"), comment),))


def on_review(payload: Payload, context: Context) -> Routed:
    """The body of a submitted review."""
    return _command(payload, context, "review", "review", "pull_request.number")


def _command(payload: Payload, context: Context, source: str, at: str, number: str) -> Routed:
    body = payload.maybe_text(f"{at}.body")
    if PREFIX not in body.lower():
        return ignored(NO_COMMAND)
    if payload.maybe_text(f"{at}.user.type") == "Bot":
        return ignored("a bot's comment: bots give no commands")
    comment = _comment(payload, source, at)
    if comment.app_id is not None and comment.app_id == context.app_id:
        return ignored("our own comment")
    return Routed((RunCommand(pull_ref(payload, number), comment),))


def _comment(payload: Payload, source: str, at: str) -> Comment:
    app = payload.maybe_number(f"{at}.performed_via_github_app.id")
    return Comment(
        source=source,
        id=payload.number(f"{at}.id"),
        body=payload.maybe_text(f"{at}.body"),
        author=payload.text(f"{at}.user.login"),
        author_type=payload.maybe_text(f"{at}.user.type"),
        in_reply_to=payload.maybe_number(f"{at}.in_reply_to_id") or 0,
        app_id=app,
        at=moment(payload, f"{at}.created_at") or moment(payload, f"{at}.submitted_at"),
    )


def edited(payload: Payload, _context: Context) -> Routed:
    """Someone edited a review comment: ours, perhaps."""
    return _changed(payload, "edited")


def deleted(payload: Payload, _context: Context) -> Routed:
    """Someone deleted a review comment: ours, perhaps."""
    return _changed(payload, "deleted")


def _changed(payload: Payload, state: str) -> Routed:
    ref = pull_ref(payload, "pull_request.number")
    number = payload.number("comment.id")
    return Routed((CommentChanged(ref, number, state, by_person(payload), _when(payload)),))


def _when(payload: Payload) -> float | None:
    """A time not after the change, and the same at every redelivery: no field has its own.

    On a closed pull request it is after the closing.
    """
    closed = moment(payload, "pull_request.closed_at")
    if closed is not None:
        return closed + 1
    times = (moment(payload, "comment.updated_at"), moment(payload, "pull_request.updated_at"))
    return max((one for one in times if one is not None), default=None)


ROUTES: Routes = {
    ("issue_comment", "created"): on_issue,
    ("pull_request_review_comment", "created"): on_diff,
    ("pull_request_review_comment", "edited"): edited,
    ("pull_request_review_comment", "deleted"): deleted,
    ("pull_request_review", "submitted"): on_review,
}
