"""The jobs, with a retry for what was given up; and where the App is installed."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from bot.store.tables import UNFINISHED, JobState
from bot.web import lists
from bot.web.desk import Desk

SAID = {
    "queued": "It is queued again.",
    "busy": "It is in work, or done already: nothing was changed.",
}
RETRIABLE = frozenset(set(JobState) - {*UNFINISHED, JobState.DONE})


def add(pages: Blueprint, desk: Desk) -> None:
    """Add the routes."""

    @pages.get("/jobs")
    def jobs() -> str:
        access = desk.seen
        state = request.args.get("state", "")
        if state and state not in set(JobState):
            abort(404)
        ids = list(access.repositories)
        return render_template(
            "jobs.html",
            rows=lists.jobs(desk.database, ids, state),
            counts=lists.job_counts(desk.database, ids),
            states=[one.value for one in JobState],
            state=state,
            deliveries=lists.parked_deliveries(desk.database, ids),
            writable={one.id for one in access.repositories.values() if one.write},
            retriable=RETRIABLE,
            said=SAID.get(request.args.get("said", ""), ""),
        )

    @pages.post("/jobs/<name>/retry")
    def retry_job(name: str) -> BaseResponse:
        job = desk.ledger.jobs.get(name)
        if job is None:
            abort(404)
        desk.writer(job.repository_id)
        return _back(desk.ledger.jobs.retry(name, desk.now(), desk.queue.review))

    @pages.post("/deliveries/<int:number>/retry")
    def retry_delivery(number: int) -> BaseResponse:
        delivery = desk.ledger.deliveries.get(number)
        if delivery is None or delivery.repository_id is None:
            abort(404)
        desk.writer(delivery.repository_id)
        return _back(desk.ledger.deliveries.retry(number, desk.queue.deliver))

    @pages.get("/connections")
    def connections() -> str:
        access = desk.seen
        settings = desk.settings
        slug = next((one.slug for one in access.installations if one.slug), "")
        return render_template(
            "connections.html",
            installations=access.installations,
            repositories=sorted(access.repositories.values(), key=lambda one: one.name.lower()),
            install=f"{settings.github_url}/apps/{slug}/installations/new" if slug else "",
            webhook=f"{settings.public_url or request.host_url.rstrip('/')}/webhook",
            workers=len(desk.ledger.workers.alive(settings.lease)),
        )


def _back(again: bool) -> BaseResponse:
    values: dict[str, Any] = {"said": "queued" if again else "busy"}
    if request.form.get("state"):
        values["state"] = request.form["state"]
    return redirect(url_for("web.jobs", **values), 303)
