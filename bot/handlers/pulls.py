"""Pull requests: opened, pushed to, re-based, made ready, labelled, closed."""

from __future__ import annotations

from bot.events import (
    CancelPull,
    Context,
    PullSeen,
    RequestReview,
    Routed,
    Routes,
    ignored,
    moment,
    pull_ref,
)
from bot.jobs.forge import ReviewRequest
from bot.payload import Payload

_UPDATED = "pull_request.updated_at"
READY_KEY = "ready"
"""Made ready is a request of its own: its patch may have been skipped as a draft's."""


def review(payload: Payload, _context: Context) -> Routed:
    """The ordinary request: the same patch asked for twice is one job."""
    return Routed((_request(payload, ReviewRequest()),))


def _request(payload: Payload, request: ReviewRequest, base_changed: bool = False) -> RequestReview:
    head = "" if base_changed else payload.maybe_text("pull_request.head.sha")
    return RequestReview(pull_ref(payload, "pull_request.number"), request, head)


def ready(payload: Payload, _context: Context) -> Routed:
    """A draft was made ready."""
    return Routed((_request(payload, ReviewRequest(key=READY_KEY)),))


def edited(payload: Payload, _context: Context) -> Routed:
    """Only a changed base changes the patch; titles and texts are no concern of a review."""
    if not payload.has("changes.base"):
        return ignored("pull_request.edited: the base is the same")
    return Routed((_request(payload, ReviewRequest(), base_changed=True),))


def drafted(payload: Payload, _context: Context) -> Routed:
    """Back to a draft: stop, and let the settings say whether drafts are reviewed."""
    ref = pull_ref(payload, "pull_request.number")
    return Routed((CancelPull(ref, "draft"), _request(payload, ReviewRequest())))


def closed(payload: Payload, _context: Context) -> Routed:
    """Closed or merged: nobody needs the review any more, and what became of it is known."""
    cancel = CancelPull(pull_ref(payload, "pull_request.number"), "closed")
    return Routed((cancel, *_seen(payload, "pull_request.closed_at", closed=True)))


def pushed(payload: Payload, context: Context) -> Routed:
    """New commits: a review, and what they made of what was said before."""
    return Routed((*review(payload, context).actions, *_seen(payload, _UPDATED)))


def reopened(payload: Payload, context: Context) -> Routed:
    """Opened again: a review, and nothing is final any more."""
    return Routed((*review(payload, context).actions, *_seen(payload, _UPDATED, closed=False)))


def _seen(payload: Payload, when: str, closed: bool | None = None) -> tuple[PullSeen, ...]:
    head = payload.maybe_text("pull_request.head.sha")
    base = payload.maybe_text("pull_request.base.sha")
    at = moment(payload, when) or moment(payload, _UPDATED)
    if not head or not base or at is None:
        return ()
    return (PullSeen(pull_ref(payload, "pull_request.number"), head, base, at, closed),)


ROUTES: Routes = {
    ("pull_request", "opened"): review,
    ("pull_request", "synchronize"): pushed,
    ("pull_request", "reopened"): reopened,
    ("pull_request", "labeled"): review,
    ("pull_request", "unlabeled"): review,
    ("pull_request", "edited"): edited,
    ("pull_request", "ready_for_review"): ready,
    ("pull_request", "converted_to_draft"): drafted,
    ("pull_request", "closed"): closed,
}
