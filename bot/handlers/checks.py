"""Check runs: a person asks for our check again."""

from __future__ import annotations

from bot.events import Context, RequestReview, Routed, Routes, ignored
from bot.jobs.forge import PullRef, RequestKind, ReviewRequest
from bot.payload import Payload


def again(payload: Payload, context: Context) -> Routed:
    """Re-run, or a button of our check run: a review of every pull request that it names.

    A check run of a fork's pull request names none; its review comes with the next push.
    """
    if context.app_id is None or payload.maybe_number("check_run.app.id") != context.app_id:
        return ignored("another App's check run")
    pulls = payload.items("check_run.pull_requests")
    if not pulls:
        return ignored("a check run without a pull request")
    # The run is made anew at every re-run, but the time tells two presses of a button apart.
    moment = payload.maybe_text("check_run.completed_at") or payload.maybe_text(
        "check_run.started_at"
    )
    request = ReviewRequest(
        kind=RequestKind.CHECK,
        key=f"check:{payload.number('check_run.id')}:{moment}",
        by=payload.maybe_text("sender.login"),
    )
    repository_id = payload.number("repository.id")
    name = payload.text("repository.full_name")
    installation = payload.maybe_number("installation.id")
    return Routed(
        tuple(
            RequestReview(
                PullRef(repository_id, name, pull.number("number"), installation), request
            )
            for pull in pulls
        )
    )


ROUTES: Routes = {
    ("check_run", "rerequested"): again,
}
