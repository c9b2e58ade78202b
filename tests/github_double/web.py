"""What the handlers share: the caller, look-ups, paging, JSON answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from flask import Response, current_app, g, jsonify, request

from tests.github_double.auth import Caller, can_read, require
from tests.github_double.errors import ApiError, not_found
from tests.github_double.records import Pull, Repo, Review, ReviewComment, Thread
from tests.github_double.world import World

T = TypeVar("T")


def world() -> World:
    """The world behind this server."""
    return cast(World, current_app.extensions["world"])


def caller() -> Caller:
    """Who makes the present request."""
    return cast(Caller, g.caller)


def root() -> str:
    """The API's address as the present caller knows it."""
    return cast(str, g.root)


def body() -> dict[str, Any]:
    """The request's JSON object; 400 where it is none."""
    if not request.get_data():
        return {}
    data = request.get_json(force=True, silent=True)
    if not isinstance(data, dict):
        raise ApiError(400, "Problems parsing JSON")
    return data


def answer(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    out = jsonify(data)
    out.status_code = status
    out.headers.update(headers or {})
    return out


def empty(status: int = 204) -> Response:
    """An answer without a body."""
    out = Response(status=status)
    out.headers.pop("Content-Type", None)
    return out


def raw(data: bytes, kind: str) -> Response:
    """An answer that is no JSON."""
    return Response(data, content_type=kind)


def accepts(word: str) -> bool:
    """Whether the caller asked for a media type such as ``diff`` or ``raw``."""
    return f".{word}" in request.headers.get("Accept", "")


def number(name: str, default: int, top: int | None = None) -> int:
    """A whole number from the query string; anything else counts as the default."""
    text = request.args.get(name, "")
    value = int(text) if text.isdigit() and int(text) > 0 else default
    return value if top is None else min(value, top)


def page(
    items: Sequence[T], show: Callable[[T], Any], wrap: Callable[[list[Any]], Any] | None = None
) -> Response:
    """One page of a list with GitHub's Link header."""
    size, which = number("per_page", 30, 100), number("page", 1)
    last = max(1, -(-len(items) // size))
    rows = [show(item) for item in items[(which - 1) * size : which * size]]
    links = []
    if which < last:
        links += [(which + 1, "next"), (last, "last")]
    if which > 1:
        links += [(1, "first"), (which - 1, "prev")]
    out = answer(rows if wrap is None else wrap(rows))
    if links:
        out.headers["Link"] = ", ".join(f'<{_page_url(n)}>; rel="{rel}"' for n, rel in links)
    return out


def _page_url(which: int) -> str:
    args = request.args.to_dict()
    args["page"] = str(which)
    return f"{root()}{request.path}?{urlencode(args)}"


def find_repo(owner: str, name: str, level: str = "read", *areas: str) -> Repo:
    """The repository, if the caller may see it and holds the level in one of the areas."""
    found = world().repos.get(f"{owner}/{name}".lower())
    if found is None or not (caller().as_app or can_read(caller(), found)):
        raise not_found()
    if areas:
        require(caller(), found, level, *areas)
    return found


def find_pull(owner: str, name: str, which: int, level: str = "read", *areas: str) -> Pull:
    """The pull request, likewise."""
    found = find_repo(owner, name, level, *areas).pulls.get(which)
    if found is None:
        raise not_found()
    return found


def find_review(pull: Pull, which: int) -> Review:
    """A review that the caller may see: someone else's pending one does not exist."""
    for review in visible_reviews(pull):
        if review.id == which:
            return review
    raise not_found()


def visible_reviews(pull: Pull) -> list[Review]:
    """The submitted reviews and the caller's own pending one."""
    me = caller().account
    return [r for r in pull.reviews if r.state != "PENDING" or r.author is me]


def public_comments(pull: Pull) -> list[ReviewComment]:
    """The comments of submitted reviews, oldest first."""
    every = [c for t in pull.threads for c in t.comments if c.review.state != "PENDING"]
    return sorted(every, key=lambda c: c.id)


def find_comment(repo: Repo, which: int) -> ReviewComment:
    """A review comment of any pull request of a repository."""
    for pull in repo.pulls.values():
        for thread in pull.threads:
            for comment in thread.comments:
                mine = comment.author is caller().account
                if comment.id == which and (comment.review.state != "PENDING" or mine):
                    return comment
    raise not_found()


def drop_comment(comment: ReviewComment) -> Thread | None:
    """Delete a review comment; its thread where that is empty now."""
    thread = comment.thread
    thread.comments.remove(comment)
    if not thread.comments:
        thread.pull.threads.remove(thread)
        return thread
    return None
