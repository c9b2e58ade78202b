"""The double's own API, what people say: comments, reviews, threads, reactions."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response

from tests.github_double import render_pull, reviews
from tests.github_double.deliveries import announce
from tests.github_double.errors import ApiError, not_found
from tests.github_double.own_world import hold, let_go, pull_of_path, repo_of
from tests.github_double.records import (
    IssueComment,
    Reaction,
    Review,
    ReviewComment,
    Thread,
    node_id,
    now,
)
from tests.github_double.web import answer, body, drop_comment, world

blueprint = Blueprint("own_people", __name__, url_prefix="/_double")
blueprint.before_request(hold)
blueprint.teardown_request(let_go)
_PULL = "/repos/<owner>/<name>/pulls/<int:number>"
Json = dict[str, Any]


@blueprint.patch("/accounts/<login>")
def change_account(login: str) -> Response:
    """What a person shows of themselves."""
    world().account(login).name = body()["name"]
    return answer({})


@blueprint.post(f"{_PULL}/comments")
def say(owner: str, name: str, number: int) -> Response:
    pull, data = pull_of_path(owner, name, number), body()
    author = world().account(data.get("author", "alice"))
    comment = IssueComment(world().next_id(), pull, author, data["body"])
    pull.comments.append(comment)
    announce(world(), "issue_comment", "created", comment, author)
    return answer(render_pull.issue_comment(world().root, comment), 201)


@blueprint.post(f"{_PULL}/review-comments")
def remark(owner: str, name: str, number: int) -> Response:
    pull, data = pull_of_path(owner, name, number), body()
    author = world().account(data.pop("author", "alice"))
    data.setdefault("commit_id", pull.head_sha)
    comment = reviews.single(world(), pull, author, data, None)
    announce(world(), "pull_request_review_comment", "created", comment, author)
    return answer(render_pull.review_comment(world().root, comment), 201)


@blueprint.post(f"{_PULL}/reviews")
def say_in_review(owner: str, name: str, number: int) -> Response:
    pull, data = pull_of_path(owner, name, number), body()
    author = world().account(data.pop("author", "alice"))
    review = reviews.create(world(), pull, author, data, None)
    if review.state != "PENDING":
        announce(world(), "pull_request_review", "submitted", review, author)
    return answer(render_pull.review_with_comments(world().root, review), 201)


@blueprint.get(f"{_PULL}/reviews")
def all_reviews(owner: str, name: str, number: int) -> Response:
    pull = pull_of_path(owner, name, number)
    return answer([render_pull.review_with_comments(world().root, r) for r in pull.reviews])


@blueprint.get(f"{_PULL}/comments")
def all_comments(owner: str, name: str, number: int) -> Response:
    pull = pull_of_path(owner, name, number)
    return answer([render_pull.issue_comment(world().root, c) for c in pull.comments])


@blueprint.get(f"{_PULL}/threads")
def all_threads(owner: str, name: str, number: int) -> Response:
    pull = pull_of_path(owner, name, number)
    return answer([_thread(t) for t in pull.threads])


def _thread(thread: Thread) -> Json:
    top = thread.comments[0]
    return {
        "id": thread.id,
        "node_id": node_id("PRRT", thread.id),
        "resolved": thread.resolved_by is not None,
        "resolved_by": thread.resolved_by.login if thread.resolved_by else None,
        "outdated": top.line is None and top.subject_type == "line",
        "comments": [render_pull.review_comment(world().root, c) for c in thread.comments],
    }


@blueprint.get(f"{_PULL}/checks")
def all_checks(owner: str, name: str, number: int) -> Response:
    repo = repo_of(owner, name)
    return answer(
        [
            {**render_pull.check_run(world().root, c), "annotations": c.annotations}
            for c in repo.checks.values()
        ]
    )


@blueprint.post("/comments/<int:which>/<any(resolve,unresolve,delete,edit,react,hide,unhide):verb>")
def on_comment(which: int, verb: str) -> Response:
    """Act on a comment by its id, of either kind: as a person would on the page."""
    data = body()
    by = world().account(data.get("author", "alice"))
    comment = comment_by_id(which)
    line = isinstance(comment, ReviewComment)
    event = "pull_request_review_comment" if line else "issue_comment"
    if verb == "react":
        comment.reactions.append(Reaction(world().next_id(), by, data["content"]))
    elif verb in ("hide", "unhide"):
        if not isinstance(comment, ReviewComment):
            raise ApiError(422, "only review comments are hidden here")
        # no delivery tells of it
        comment.hidden = data.get("reason", "off-topic") if verb == "hide" else ""
    elif verb == "edit":
        changes = {"body": {"from": comment.body}}
        comment.body, comment.updated_at = data["body"], now()
        announce(world(), event, "edited", comment, by, {"changes": changes})
    elif verb == "delete":
        announce(world(), event, "deleted", comment, by)
        if isinstance(comment, ReviewComment):
            drop_comment(comment)
        else:
            comment.pull.comments.remove(comment)
    elif isinstance(comment, ReviewComment):
        comment.thread.resolved_by = by if verb == "resolve" else None
        announce(world(), "pull_request_review_thread", f"{verb}d", comment.thread, by)
        return answer(_thread(comment.thread))
    else:
        raise ApiError(422, "only review comments stand in threads")
    return answer({})


def comment_by_id(which: int) -> ReviewComment | IssueComment:
    """A comment of either kind."""
    for repo in world().repos.values():
        for pull in repo.pulls.values():
            every: list[ReviewComment | IssueComment] = list(pull.comments)
            every += [c for t in pull.threads for c in t.comments]
            for comment in every:
                if comment.id == which:
                    return comment
    raise not_found()


def review_by_id(which: int) -> Review:
    """A review of any pull request."""
    for repo in world().repos.values():
        for pull in repo.pulls.values():
            for review in pull.reviews:
                if review.id == which:
                    return review
    raise not_found()
