"""Pull requests: opened, pushed to, re-based, made ready, labelled, closed."""

from __future__ import annotations

from bot.events import CancelPull, Context, RequestReview, Routed, Routes, ignored, pull_ref
from bot.jobs.forge import ReviewRequest
from bot.payload import Payload

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
    """Closed or merged: nobody needs the review any more."""
    return Routed((CancelPull(pull_ref(payload, "pull_request.number"), "closed"),))


ROUTES: Routes = {
    ("pull_request", "opened"): review,
    ("pull_request", "synchronize"): review,
    ("pull_request", "reopened"): review,
    ("pull_request", "labeled"): review,
    ("pull_request", "unlabeled"): review,
    ("pull_request", "edited"): edited,
    ("pull_request", "ready_for_review"): ready,
    ("pull_request", "converted_to_draft"): drafted,
    ("pull_request", "closed"): closed,
}
