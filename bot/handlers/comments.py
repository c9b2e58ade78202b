"""Commands in comments, and what becomes of our own comments."""

from __future__ import annotations

from bot.events import CommentChanged, Context, Routed, Routes, RunCommand, ignored, pull_ref
from bot.jobs.forge import Comment
from bot.payload import Payload

PREFIX = "/marginalia"


def on_issue(payload: Payload, context: Context) -> Routed:
    """A comment in a pull request's conversation."""
    if not payload.has("issue.pull_request"):
        return ignored("a comment on an issue")
    return _command(payload, context, "issue_comment", "comment", "issue.number")


def on_diff(payload: Payload, context: Context) -> Routed:
    """A comment in a review thread."""
    return _command(payload, context, "review_comment", "comment", "pull_request.number")


def on_review(payload: Payload, context: Context) -> Routed:
    """The body of a submitted review."""
    return _command(payload, context, "review", "review", "pull_request.number")


def _command(payload: Payload, context: Context, source: str, at: str, number: str) -> Routed:
    body = payload.maybe_text(f"{at}.body")
    if PREFIX not in body.lower():
        return ignored("no command")
    if payload.maybe_text(f"{at}.user.type") == "Bot":
        return ignored("a bot's comment: bots give no commands")
    app = payload.maybe_number(f"{at}.performed_via_github_app.id")
    if app is not None and app == context.app_id:
        return ignored("our own comment")
    comment = Comment(
        source=source,
        id=payload.number(f"{at}.id"),
        body=body,
        author=payload.text(f"{at}.user.login"),
        author_type=payload.maybe_text(f"{at}.user.type"),
        in_reply_to=payload.maybe_number(f"{at}.in_reply_to_id") or 0,
        app_id=app,
    )
    return Routed((RunCommand(pull_ref(payload, number), comment),))


def edited(payload: Payload, _context: Context) -> Routed:
    """Someone edited a review comment: ours, perhaps."""
    return _changed(payload, "edited")


def deleted(payload: Payload, _context: Context) -> Routed:
    """Someone deleted a review comment: ours, perhaps."""
    return _changed(payload, "deleted")


def _changed(payload: Payload, state: str) -> Routed:
    ref = pull_ref(payload, "pull_request.number")
    return Routed((CommentChanged(ref, payload.number("comment.id"), state),))


ROUTES: Routes = {
    ("issue_comment", "created"): on_issue,
    ("pull_request_review_comment", "created"): on_diff,
    ("pull_request_review_comment", "edited"): edited,
    ("pull_request_review_comment", "deleted"): deleted,
    ("pull_request_review", "submitted"): on_review,
}
