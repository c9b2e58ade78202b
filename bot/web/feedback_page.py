"""What became of the comments, and the thresholds that follow from it, with plots."""

from __future__ import annotations

from flask import Blueprint, Response, make_response, render_template, request

from bot.web import charts, lists
from bot.web.desk import Desk

RELOAD_SECONDS = 3


def add(pages: Blueprint, desk: Desk) -> None:
    """Add the route."""

    @pages.get("/feedback")
    def feedback() -> Response:
        access = desk.seen
        chosen = request.args.get("repo", "")
        if chosen:
            return _of_one(desk, chosen)
        shares = lists.repositories_with_outcomes(desk.database, list(access.repositories))
        rows = [(access.repositories[number].name, share) for number, share in shares.items()]
        return make_response(
            render_template(
                "feedback_repositories.html",
                rows=sorted(rows, key=lambda row: row[0].lower()),
                share=charts.share,
            )
        )


def _of_one(desk: Desk, name: str) -> Response:
    seen = desk.reader_of(name)
    made, working = desk.reports.get(seen.id, seen.name)
    page = make_response(
        render_template(
            "feedback.html",
            repository=seen.name,
            names=desk.seen.names,
            counts=lists.acceptance(desk.database, seen.id),
            made=made,
            working=working,
            sure=desk.settings.sure if made is None else made.sure,
            calibration=charts.calibration,
            share=charts.share,
        )
    )
    if working and made is None:
        page.headers["Refresh"] = str(RELOAD_SECONDS)
    return page
