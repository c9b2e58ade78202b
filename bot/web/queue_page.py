"""The queue: candidates that wait, one after the other, to be approved, edited or rejected."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from flask import (
    Blueprint,
    Response,
    abort,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as BaseResponse

from bot.feedback import approval
from bot.feedback.approval import ApprovalState, BadEdit, Decided, Waiting
from bot.handover import Handover
from bot.kept_config import kept_config
from bot.web.desk import Desk
from bot.web.paging import whole_number

PAGE = 10
SAID = {
    "approved": "Approved: it is posted in a moment.",
    "edited": "Approved as edited: it is posted in a moment.",
    "rejected": "Rejected: it is not posted.",
    "decided": "Someone had decided it before.",
}


@dataclass(frozen=True, slots=True)
class Edited:
    """A person's own text that could not be taken, and why."""

    number: int
    body: str
    suggestion: str | None
    problem: str


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the code before, and whether the candidate is about it."""

    number: int
    text: str
    meant: bool


def add(pages: Blueprint, desk: Desk) -> None:
    """Add the routes."""

    @pages.get("/queue")
    def queue() -> Response:
        return _show(desk)

    @pages.post("/queue/<int:number>/approve")
    def approve(number: int) -> BaseResponse:
        row = _writable(desk, number)
        body, suggestion = request.form.get("body"), request.form.get("suggestion")
        try:
            made = approval.accept(
                desk.database,
                number,
                desk.person.login,
                body,
                suggestion,
                desk.now(),
                _sealed(desk, row),
            )
        except Decided:
            return _back("decided", number)
        except BadEdit as error:
            words = body if body is not None else row.body
            return _show(desk, Edited(number, words, suggestion, str(error)), 400)
        return _back("edited" if made.state == ApprovalState.EDITED else "approved", number)

    @pages.post("/queue/<int:number>/reject")
    def reject(number: int) -> BaseResponse:
        _writable(desk, number)
        try:
            approval.reject(desk.database, number, desk.person.login, desk.now())
        except Decided:
            return _back("decided", number)
        return _back("rejected", number)


def _writable(desk: Desk, number: int) -> Waiting:
    row = approval.get(desk.database, number)
    if row is None:
        abort(404)
    desk.writer(row.repository_id)
    return row


def _in_person(desk: Desk, repository_id: int, repository: str) -> bool:
    """Whether who accepts posts in their own name there."""
    memory = desk.ledger.memory
    config = kept_config(memory, desk.settings, repository_id, repository)
    return config.accepted_as == "person" and desk.settings.client_secret is not None


def _sealed(desk: Desk, row: Waiting) -> str:
    """What lets a worker post in the person's name; empty where the bot does."""
    handover = Handover.of(desk.settings)
    if handover is None or not _in_person(desk, row.repository_id, row.repository):
        return ""
    return handover.seal(row.id, desk.person.login, desk.person.token)


def _back(said: str, number: int) -> BaseResponse:
    """Back to the page that the form was on; its next candidate takes the focus."""
    values: dict[str, Any] = {"said": said, "number": number}
    for name in ("repo", "page"):
        value = request.form.get(name)
        if value:
            values[name] = value
    return redirect(url_for("web.queue", **values), 303)


def _show(desk: Desk, edited: Edited | None = None, status: int = 200) -> Response:
    access = desk.seen
    given = request.values
    chosen = given.get("repo", "")
    names = [desk.reader_of(chosen).name] if chosen else access.names
    page = whole_number(given.get("page"), 1)
    total = approval.count(desk.database, names)
    pages = max(1, -(-total // PAGE))
    page = min(page, pages)
    rows = approval.queue(desk.database, names, limit=PAGE, offset=(page - 1) * PAGE)
    writable = {one.id for one in access.repositories.values() if one.write}
    shown = {(row.repository_id, row.repository) for row in rows}
    made = make_response(
        render_template(
            "queue.html",
            rows=[(row, *_code(row)) for row in rows],
            total=total,
            page=page,
            pages=pages,
            repo=chosen,
            names=access.names,
            writable=writable,
            in_person={number for number, name in shown if _in_person(desk, number, name)},
            edited=edited,
            said=SAID.get(given.get("said", ""), ""),
            number=whole_number(given.get("number"), 0),
            github=desk.settings.github_url,
        )
    )
    made.status_code = status
    return made


def _code(row: Waiting) -> tuple[list[CodeLine], list[str] | None]:
    """The code before and the suggestion, both moved left as far as they have blanks in common."""
    before = [text.removesuffix("\r") for text in row.before.split("\n")]
    new = row.suggestion.split("\n") if row.suggestion else []
    both = dedent("\n".join([*before, *new])).split("\n")
    lines = [
        CodeLine(at, text, row.start_line <= at <= row.line)
        for at, text in enumerate(both[: len(before)], row.before_start)
    ]
    return lines, None if row.suggestion is None else both[len(before) :]
