"""Review threads: resolved and opened again."""

from __future__ import annotations

from bot.events import Context, Routed, Routes, ThreadChanged, by_person, moment, pull_ref
from bot.payload import Payload


def resolved(payload: Payload, _context: Context) -> Routed:
    """A thread was resolved."""
    return _changed(payload, resolved=True)


def unresolved(payload: Payload, _context: Context) -> Routed:
    """A thread was opened again."""
    return _changed(payload, resolved=False)


def _changed(payload: Payload, resolved: bool) -> Routed:
    comments = payload.items("thread.comments")
    change = ThreadChanged(
        ref=pull_ref(payload, "pull_request.number"),
        thread_id=payload.text("thread.node_id"),
        comment_id=comments[0].number("id") if comments else None,
        resolved=resolved,
        by=payload.maybe_text("sender.login"),
        at=moment(payload, "updated_at"),
        by_person=by_person(payload),
    )
    return Routed((change,))


ROUTES: Routes = {
    ("pull_request_review_thread", "resolved"): resolved,
    ("pull_request_review_thread", "unresolved"): unresolved,
}
