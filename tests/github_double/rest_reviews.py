"""Reviews, review comments, issue comments, reactions."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from tests.github_double import render_pull, reviews
from tests.github_double.auth import require, require_account
from tests.github_double.deliveries import announce
from tests.github_double.errors import ApiError, invalid, not_found
from tests.github_double.records import (
    IssueComment,
    Pull,
    Reaction,
    Repo,
    Review,
    ReviewComment,
    now,
)
from tests.github_double.web import (
    answer,
    body,
    caller,
    drop_comment,
    empty,
    find_comment,
    find_pull,
    find_repo,
    find_review,
    page,
    public_comments,
    root,
    visible_reviews,
    world,
)

blueprint = Blueprint("reviews", __name__)
_AREA = "pull_requests"
_PULL = "/repos/<owner>/<name>/pulls/<int:which>"
_REVIEW = f"{_PULL}/reviews/<int:review_id>"
_COMMENT = "/repos/<owner>/<name>/pulls/comments/<int:comment_id>"
_ISSUE_COMMENT = "/repos/<owner>/<name>/issues/comments/<int:comment_id>"


def _slow_down() -> None:
    if world().too_much_content(caller().name):
        raise secondary_limit()


def secondary_limit(status: int = 403, wait: int | None = 60) -> ApiError:
    """The answer to too much writing; without ``wait`` it has no Retry-After."""
    headers = {} if wait is None else {"Retry-After": str(wait)}
    text = "You have exceeded a secondary rate limit. Please wait a few minutes."
    return ApiError(status, text, headers=headers)


@blueprint.get(f"{_PULL}/reviews")
def list_reviews(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    return page(visible_reviews(pull), lambda r: render_pull.review(root(), r))


@blueprint.post(f"{_PULL}/reviews")
def create_review(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "write", _AREA)
    _slow_down()
    review = reviews.create(world(), pull, require_account(caller()), body(), caller().app)
    if review.state != "PENDING":
        _announce_review(review)
    return answer(render_pull.review(root(), review))


def _announce_review(review: Review) -> None:
    announce(world(), "pull_request_review", "submitted", review, review.author)
    for comment in reviews.comments_of(review):
        announce(world(), "pull_request_review_comment", "created", comment, review.author)


@blueprint.get(_REVIEW)
def get_review(owner: str, name: str, which: int, review_id: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    return answer(render_pull.review(root(), find_review(pull, review_id)))


@blueprint.put(_REVIEW)
def update_review(owner: str, name: str, which: int, review_id: int) -> Response:
    review = _own_review(owner, name, which, review_id)
    text = body().get("body") or ""
    reviews.check_body(world(), text)
    review.body = text
    return answer(render_pull.review(root(), review))


@blueprint.delete(_REVIEW)
def delete_review(owner: str, name: str, which: int, review_id: int) -> Response:
    review = _own_review(owner, name, which, review_id)
    shown = render_pull.review(root(), review)
    reviews.discard(review)
    return answer(shown)


@blueprint.post(f"{_REVIEW}/events")
def submit_review(owner: str, name: str, which: int, review_id: int) -> Response:
    review = _own_review(owner, name, which, review_id)
    _slow_down()
    data = body()
    reviews.submit(world(), review, data.get("event") or "", data.get("body"))
    _announce_review(review)
    return answer(render_pull.review(root(), review))


@blueprint.put(f"{_REVIEW}/dismissals")
def dismiss_review(owner: str, name: str, which: int, review_id: int) -> Response:
    pull = find_pull(owner, name, which, "write", _AREA)
    review = find_review(pull, review_id)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise ApiError(422, "Unprocessable Entity", ["Can not dismiss a commented review"])
    review.state = "DISMISSED"
    return answer(render_pull.review(root(), review))


def _own_review(owner: str, name: str, which: int, review_id: int) -> Review:
    pull = find_pull(owner, name, which, "write", _AREA)
    review = find_review(pull, review_id)
    if review.author is not caller().account:
        raise ApiError(403, "Forbidden")
    return review


@blueprint.get(f"{_REVIEW}/comments")
def list_review_comments(owner: str, name: str, which: int, review_id: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    found = reviews.comments_of(find_review(pull, review_id))
    return page(found, lambda c: render_pull.review_comment(root(), c))


# -- comments on lines -----------------------------------------------------------------------


def _sorted(found: list[ReviewComment]) -> list[ReviewComment]:
    since = request.args.get("since")
    if since:
        found = [c for c in found if c.updated_at >= since]
    if request.args.get("direction") == "desc":
        found = list(reversed(found))
    return found


@blueprint.get(f"{_PULL}/comments")
def list_comments(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    found = _sorted(public_comments(pull))
    return page(found, lambda c: render_pull.review_comment(root(), c))


@blueprint.get("/repos/<owner>/<name>/pulls/comments")
def list_repo_comments(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", _AREA)
    found = [c for pull in repo.pulls.values() for c in public_comments(pull)]
    return page(_sorted(found), lambda c: render_pull.review_comment(root(), c))


@blueprint.post(f"{_PULL}/comments")
def create_comment(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "write", _AREA)
    _slow_down()
    comment = reviews.single(world(), pull, require_account(caller()), body(), caller().app)
    announce(world(), "pull_request_review_comment", "created", comment, comment.author)
    return answer(render_pull.review_comment(root(), comment), 201)


@blueprint.post(f"{_PULL}/comments/<int:comment_id>/replies")
def create_reply(owner: str, name: str, which: int, comment_id: int) -> Response:
    pull = find_pull(owner, name, which, "write", _AREA)
    _slow_down()
    text = body().get("body") or ""
    me = require_account(caller())
    comment = reviews.reply(world(), pull, me, comment_id, text, caller().app)
    announce(world(), "pull_request_review_comment", "created", comment, me)
    return answer(render_pull.review_comment(root(), comment), 201)


@blueprint.get(_COMMENT)
def get_comment(owner: str, name: str, comment_id: int) -> Response:
    repo = find_repo(owner, name, "read", _AREA)
    return answer(render_pull.review_comment(root(), find_comment(repo, comment_id)))


@blueprint.patch(_COMMENT)
def edit_comment(owner: str, name: str, comment_id: int) -> Response:
    repo = find_repo(owner, name, "write", _AREA)
    comment = find_comment(repo, comment_id)
    text = body().get("body") or ""
    reviews.check_body(world(), text)
    comment.body, comment.updated_at = text, now()
    return answer(render_pull.review_comment(root(), comment))


@blueprint.delete(_COMMENT)
def delete_comment(owner: str, name: str, comment_id: int) -> Response:
    repo = find_repo(owner, name, "write", _AREA)
    drop_comment(find_comment(repo, comment_id))
    return empty()


# -- comments in the conversation ------------------------------------------------------------


def _find_issue_comment(repo: Repo, comment_id: int) -> IssueComment:
    for pull in repo.pulls.values():
        for comment in pull.comments:
            if comment.id == comment_id:
                return comment
    raise not_found()


@blueprint.get("/repos/<owner>/<name>/issues/<int:which>/comments")
def list_issue_comments(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", "issues", _AREA)
    since = request.args.get("since") or ""
    found = [c for c in pull.comments if c.updated_at >= since]
    return page(found, lambda c: render_pull.issue_comment(root(), c))


@blueprint.post("/repos/<owner>/<name>/issues/<int:which>/comments")
def create_issue_comment(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "write", "issues", _AREA)
    _slow_down()
    comment = add_issue_comment(pull, body().get("body") or "")
    announce(world(), "issue_comment", "created", comment, comment.author)
    return answer(render_pull.issue_comment(root(), comment), 201)


def add_issue_comment(pull: Pull, text: str) -> IssueComment:
    """A new comment of the caller's; 422 for an empty or an endless one."""
    if not text:
        raise invalid("IssueComment", "body", "body can't be blank", "missing_field")
    limit = world().limits.body_characters
    if len(text) > limit:
        raise invalid("IssueComment", "body", f"body is too long (maximum is {limit} characters)")
    comment = IssueComment(world().next_id(), pull, require_account(caller()), text, caller().app)
    pull.comments.append(comment)
    return comment


@blueprint.get(_ISSUE_COMMENT)
def get_issue_comment(owner: str, name: str, comment_id: int) -> Response:
    repo = find_repo(owner, name, "read", "issues", _AREA)
    return answer(render_pull.issue_comment(root(), _find_issue_comment(repo, comment_id)))


@blueprint.patch(_ISSUE_COMMENT)
def edit_issue_comment(owner: str, name: str, comment_id: int) -> Response:
    repo = find_repo(owner, name, "write", "issues", _AREA)
    comment = _find_issue_comment(repo, comment_id)
    comment.body, comment.updated_at = body().get("body") or "", now()
    return answer(render_pull.issue_comment(root(), comment))


@blueprint.delete(_ISSUE_COMMENT)
def delete_issue_comment(owner: str, name: str, comment_id: int) -> Response:
    repo = find_repo(owner, name, "write", "issues", _AREA)
    comment = _find_issue_comment(repo, comment_id)
    comment.pull.comments.remove(comment)
    return empty()


# -- reactions -------------------------------------------------------------------------------


def _subject(
    owner: str, name: str, kind: str, subject_id: int, level: str
) -> tuple[Repo, list[Reaction]]:
    repo = find_repo(owner, name)
    if kind == "pulls":
        require(caller(), repo, level, _AREA)
        return repo, find_comment(repo, subject_id).reactions
    require(caller(), repo, level, "issues", _AREA)
    return repo, _find_issue_comment(repo, subject_id).reactions


@blueprint.get("/repos/<owner>/<name>/<any(pulls,issues):kind>/comments/<int:sid>/reactions")
def list_reactions(owner: str, name: str, kind: str, sid: int) -> Response:
    _, given = _subject(owner, name, kind, sid, "read")
    return page(given, lambda r: render_pull.reaction(root(), r))


@blueprint.post("/repos/<owner>/<name>/<any(pulls,issues):kind>/comments/<int:sid>/reactions")
def create_reaction(owner: str, name: str, kind: str, sid: int) -> Response:
    _, given = _subject(owner, name, kind, sid, "write")
    return _react(given)


@blueprint.get("/repos/<owner>/<name>/issues/<int:which>/reactions")
def list_issue_reactions(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", "issues", _AREA)
    return page(pull.reactions, lambda r: render_pull.reaction(root(), r))


@blueprint.post("/repos/<owner>/<name>/issues/<int:which>/reactions")
def create_issue_reaction(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "write", "issues", _AREA)
    return _react(pull.reactions)


def _react(given: list[Reaction]) -> Response:
    me, content = require_account(caller()), str(body().get("content"))
    for old in given:
        if old.account is me and old.content == content:
            return answer(render_pull.reaction(root(), old), 200)
    made = Reaction(world().next_id(), me, content)
    given.append(made)
    return answer(render_pull.reaction(root(), made), 201)


@blueprint.delete(
    "/repos/<owner>/<name>/<any(pulls,issues):kind>/comments/<int:sid>/reactions/<int:rid>"
)
def delete_reaction(owner: str, name: str, kind: str, sid: int, rid: int) -> Response:
    _, given = _subject(owner, name, kind, sid, "write")
    kept: list[Any] = [r for r in given if r.id != rid]
    given[:] = kept
    return empty()
