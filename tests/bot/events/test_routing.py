"""Routing is pure: what each event leads to, and that no broken field gets past it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bot.events import (
    CancelPull,
    CommentChanged,
    Context,
    InstallationChanged,
    RepositoriesChanged,
    RequestReview,
    Routed,
    RunCommand,
    ThreadChanged,
)
from bot.handlers import router
from bot.jobs.forge import PullRef, RequestKind
from bot.payload import Malformed, Payload
from tests.github_double.examples import every_example

REPO = {"id": 7, "full_name": "o/r"}
REF = PullRef(7, "o/r", 3, 5)
BASE = {"repository": REPO, "installation": {"id": 5}, "sender": {"login": "ann"}}
PULL = {**BASE, "pull_request": {"number": 3}}


def route(event: str, payload: dict[str, Any], app_id: int | None = 99) -> Routed:
    return router().route(event, Payload(payload), Context(app_id))


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "labeled", "unlabeled"])
def test_what_asks_for_the_ordinary_review(action: str) -> None:
    (request,) = route("pull_request", {**PULL, "action": action}).actions
    assert isinstance(request, RequestReview)
    assert (request.ref, request.request.key, request.request.full) == (REF, "", False)


def test_a_draft_made_ready_is_a_request_of_its_own() -> None:
    (request,) = route("pull_request", {**PULL, "action": "ready_for_review"}).actions
    assert isinstance(request, RequestReview)
    assert request.request.key == "ready"


def test_only_a_changed_base_counts_among_edits() -> None:
    edited = {**PULL, "action": "edited"}
    assert not route("pull_request", {**edited, "changes": {"title": {"from": "x"}}}).actions
    based = {**edited, "changes": {"base": {"ref": {"from": "main"}}}}
    assert isinstance(route("pull_request", based).actions[0], RequestReview)


def test_closing_and_drafting_stop() -> None:
    assert route("pull_request", {**PULL, "action": "closed"}).actions == (
        CancelPull(REF, "closed"),
    )
    actions = route("pull_request", {**PULL, "action": "converted_to_draft"}).actions
    assert [type(action) for action in actions] == [CancelPull, RequestReview]


def comment(body: str, kind: str = "User", **more: object) -> dict[str, Any]:
    return {"id": 11, "body": body, "user": {"login": "ann", "type": kind}, **more}


def test_commands_come_from_people_on_pull_requests() -> None:
    """Trouble 23: the bot never triggers itself, nor does another bot."""
    on_pull = {**BASE, "action": "created", "issue": {"number": 3, "pull_request": {}}}
    (command,) = route(
        "issue_comment", {**on_pull, "comment": comment("/Marginalia review")}
    ).actions
    assert isinstance(command, RunCommand)
    assert (command.comment.source, command.comment.id, command.comment.author) == (
        "issue_comment", 11, "ann",
    )  # fmt: skip
    quiet = [
        {**on_pull, "comment": comment("thanks")},
        {**on_pull, "comment": comment("/marginalia review", "Bot")},
        {**on_pull, "comment": comment("/marginalia x", performed_via_github_app={"id": 99})},
        {**on_pull, "issue": {"number": 3}, "comment": comment("/marginalia review")},
        {**on_pull, "comment": {**comment(""), "body": None}},
    ]
    for payload in quiet:
        assert route("issue_comment", payload).actions == ()
        assert route("issue_comment", payload).reason


def test_commands_in_threads_and_reviews() -> None:
    said = comment("/marginalia explain", in_reply_to_id=4)
    payload = {**PULL, "action": "created", "comment": said}
    (command,) = route("pull_request_review_comment", payload).actions
    assert isinstance(command, RunCommand)
    assert (command.comment.source, command.comment.in_reply_to) == ("review_comment", 4)
    payload = {**PULL, "action": "submitted", "review": comment("/marginalia review")}
    (command,) = route("pull_request_review", payload).actions
    assert isinstance(command, RunCommand)
    assert command.comment.source == "review"


def test_our_comments_and_threads() -> None:
    payload = {**PULL, "action": "deleted", "comment": comment("x")}
    assert route("pull_request_review_comment", payload).actions == (
        CommentChanged(REF, 11, "deleted"),
    )
    thread = {**PULL, "action": "resolved", "thread": {"node_id": "T", "comments": [{"id": 11}]}}
    assert route("pull_request_review_thread", thread).actions == (
        ThreadChanged(REF, "T", 11, True, "ann"),
    )


def test_only_our_own_check_is_run_again() -> None:
    run = {"id": 8, "app": {"id": 99}, "pull_requests": [{"number": 3}], "completed_at": "t"}
    payload = {**BASE, "action": "rerequested", "check_run": run}
    (request,) = route("check_run", payload).actions
    assert isinstance(request, RequestReview)
    assert (request.request.kind, request.request.key) == (RequestKind.CHECK, "check:8:t")
    assert route("check_run", payload, app_id=1).actions == ()
    assert route("check_run", payload, app_id=None).actions == ()


def test_installations() -> None:
    payload = {
        "action": "suspend",
        "installation": {"id": 5, "account": {"login": "o"}, "permissions": {"contents": "read"}},
        "repositories": [{"id": 7, "full_name": "o/r"}],
    }
    (change,) = route("installation", payload).actions
    assert isinstance(change, InstallationChanged)
    assert (change.state, change.repositories) == ("suspended", {7: "o/r"})
    payload = {
        "action": "removed",
        "installation": {"id": 5},
        "repositories_added": [],
        "repositories_removed": [{"id": 7, "full_name": "o/r"}],
    }
    assert route("installation_repositories", payload).actions == (
        RepositoriesChanged(5, {}, (7,)),
    )


def test_the_rest_is_ignored_with_a_reason() -> None:
    assert route("star", {}).reason == "event star is not used"
    assert route("pull_request", {"action": "assigned"}).reason == (
        "pull_request.assigned is not used"
    )


def test_what_is_malformed_is_named() -> None:
    with pytest.raises(Malformed, match=r"^pull_request\.number: expected a positive number$"):
        route("pull_request", {**PULL, "action": "opened", "pull_request": {"number": "3"}})
    with pytest.raises(Malformed, match=r"^repository\.id"):
        route("pull_request", {**PULL, "action": "opened", "repository": {"id": True}})


READ = (
    "action", "repository", "repository.id", "repository.full_name", "installation",
    "installation.id", "installation.account", "installation.permissions", "pull_request",
    "pull_request.number", "issue", "issue.number", "issue.pull_request", "comment", "comment.id",
    "comment.body", "comment.user", "comment.user.login", "comment.user.type", "review",
    "review.id", "review.body", "review.user", "thread", "thread.node_id", "thread.comments",
    "check_run", "check_run.id", "check_run.app", "check_run.app.id", "check_run.pull_requests",
    "changes", "changes.base", "sender", "sender.login", "repositories", "repositories_added",
    "repositories_removed",
)  # fmt: skip
WRONG: tuple[Any, ...] = (None, True, -1, 2**63, 1.5, "\ud800", "x", [], [1], [{}], {}, {"id": []})


@pytest.mark.skipif(not every_example(), reason="the example payloads are not installed")
def test_every_field_that_is_read_may_be_missing_or_wrong() -> None:
    """All example payloads, each field that routing reads, each wrong kind of value."""
    routes, context = router(), Context(29310)
    tried = 0
    for event, payload in every_example():
        for path in READ:
            *way, last = path.split(".")
            holder: Any = payload
            for part in way:
                holder = holder.get(part) if isinstance(holder, dict) else None
            if not isinstance(holder, dict) or last not in holder:
                continue
            before = holder.pop(last)
            for value in (..., *WRONG):
                if value is not ...:
                    holder[last] = copy.deepcopy(value)
                tried += 1
                try:
                    routed = routes.route(event, Payload(payload), context)
                except Malformed:
                    continue
                assert bool(routed.actions) != bool(routed.reason)
            holder[last] = before
    assert tried > 10_000
