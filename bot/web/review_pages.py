"""The list of reviews, and one review: its diff, each candidate with verdict, scores, grounds."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request

from bot.web import lists
from bot.web.desk import Desk
from bot.web.diff_view import views
from bot.web.paging import whole_number


def add(pages: Blueprint, desk: Desk) -> None:
    """Add the routes."""

    @pages.get("/reviews")
    def reviews() -> str:
        access = desk.seen
        chosen = request.args.get("repo", "")
        ids = [desk.reader_of(chosen).id] if chosen else list(access.repositories)
        pull = whole_number(request.args.get("pull"), 0)
        before = whole_number(request.args.get("before"), 0)
        rows = lists.reviews(desk.database, ids, before or None, pull or None)
        return render_template(
            "reviews.html",
            rows=rows[: lists.PAGE],
            more=len(rows) > lists.PAGE,
            repo=chosen,
            pull=pull or "",
            before=before,
            names=access.names,
        )

    @pages.get("/reviews/<int:number>")
    def review(number: int) -> str:
        owner = lists.repository_of_review(desk.database, number)
        if owner is None:
            abort(404)
        seen = desk.reader(owner)
        found = lists.review(desk.database, number)
        if found is None:
            abort(404)
        comments = {one.candidate_id: one for one in found.comments if one.candidate_id}
        return render_template(
            "review.html",
            found=found,
            review=found.review,
            repository=seen.name,
            files=views(found.files, found.candidates),
            comments=comments,
            posted=sum(one.reason == "posted" for one in found.candidates),
            github=desk.settings.github_url,
        )
