"""The requests to GitHub as plain values: built here, sent by ``bot.github.client``.

Paths and fields are those of GitHub's REST description (version 2022-11-28). Nothing here does
I/O, so what would be sent can be looked at, tested and shown (``marginalia simulate``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from bot.jobs.forge import DraftComment
from models.change import Side

JSON = "application/vnd.github+json, application/json"
DIFF = "application/vnd.github.diff"
PER_PAGE = 100
MOST_ANNOTATIONS = 50
"""GitHub takes at most 50 annotations a request (422 beyond)."""
CHECK_NAME = "marginalia"
QUEUE_NAME = "marginalia queue"
"""The check run of what waits for approval."""
REVIEW_COMMENT = "review_comment"
"""``Comment.source`` of a comment in a thread; the others are "issue_comment" and "review"."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request: method, path under the API's root, query, JSON body, wanted media type."""

    method: str
    path: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    accept: str = JSON

    @property
    def writes(self) -> bool:
        """Whether sending it twice may do something twice."""
        return self.method not in ("GET", "HEAD")


def repository(name: str) -> str:
    """The path of ``owner/name``. Raises ``ValueError`` for anything else."""
    owner, slash, repo = name.partition("/")
    if not slash or not owner or not repo or "/" in repo or repo in (".", ".."):
        raise ValueError(f'"{name}" is not a repository: write owner/name')
    return f"/repos/{quote(owner, safe='')}/{quote(repo, safe='')}"


def get(path: str, **params: str | int) -> Request:
    """A plain read."""
    return Request("GET", path, params)


def listing(path: str, per_page: int = PER_PAGE, **params: str | int) -> Request:
    """A read of a list, page by page."""
    return Request("GET", path, {"per_page": per_page, **params})


def pull(repo: str, number: int) -> Request:
    """A pull request."""
    return get(f"{repository(repo)}/pulls/{number}")


def pull_diff(repo: str, number: int) -> Request:
    """A pull request's raw diff (406 above 300 files, 20,000 lines or 1 MB)."""
    return Request("GET", f"{repository(repo)}/pulls/{number}", accept=DIFF)


def pull_files(repo: str, number: int, per_page: int = PER_PAGE) -> Request:
    """A pull request's files; the list stops at 3,000."""
    return listing(f"{repository(repo)}/pulls/{number}/files", per_page)


def compare(repo: str, base: str, head: str, per_page: int = 1) -> Request:
    """Two commits compared over their merge base; ``per_page`` counts commits, not files."""
    spec = f"{quote(base, safe='')}...{quote(head, safe='')}"
    return listing(f"{repository(repo)}/compare/{spec}", per_page)


def compare_diff(repo: str, base: str, head: str) -> Request:
    """The raw diff of a comparison."""
    path = compare(repo, base, head).path
    return Request("GET", path, accept=DIFF)


def commit(repo: str, sha: str) -> Request:
    """A commit with its message and files (300 at most)."""
    return get(f"{repository(repo)}/commits/{quote(sha, safe='')}")


def contents(repo: str, path: str, ref: str | None = None) -> Request:
    """A file at a commit (content up to 1 MB, above that only its blob's id); no ``ref``: at the
    default branch."""
    params: dict[str, str | int] = {} if ref is None else {"ref": ref}
    return Request("GET", f"{repository(repo)}/contents/{quote(path, safe='')}", params)


def user(login: str) -> Request:
    """What a person shows of themselves."""
    return get(f"/users/{quote(login, safe='')}")


def blob(repo: str, sha: str) -> Request:
    """A blob's bytes in base64, up to 100 MB."""
    return get(f"{repository(repo)}/git/blobs/{quote(sha, safe='')}")


def reviews(repo: str, number: int) -> Request:
    """The reviews of a pull request, our own pending one included."""
    return listing(f"{repository(repo)}/pulls/{number}/reviews")


def review(repo: str, number: int, review_id: int) -> Request:
    """One review."""
    return get(f"{repository(repo)}/pulls/{number}/reviews/{review_id}")


def pull_comments(repo: str, number: int) -> Request:
    """All review comments of a pull request, newest first; pending ones are not among them."""
    return listing(f"{repository(repo)}/pulls/{number}/comments", sort="created", direction="desc")


def pull_comment(repo: str, comment_id: int) -> Request:
    """One review comment."""
    return get(f"{repository(repo)}/pulls/comments/{comment_id}")


def issue_comments(repo: str, number: int) -> Request:
    """The conversation's comments, oldest first."""
    return listing(f"{repository(repo)}/issues/{number}/comments")


def create_review(
    repo: str, number: int, head: str, body: str, comments: Sequence[DraftComment]
) -> Request:
    """A review that is PENDING, because no event is named."""
    return Request(
        "POST",
        f"{repository(repo)}/pulls/{number}/reviews",
        body={
            "commit_id": head,
            "body": body,
            "comments": [review_entry(comment) for comment in comments],
        },
    )


def review_entry(comment: DraftComment) -> dict[str, Any]:
    """A comment as an entry of a review."""
    return {"path": comment.path, "body": comment.body, **anchor(comment)}


def anchor(comment: DraftComment) -> dict[str, Any]:
    """Where a comment stands. Multi-line ones need ``start_side``; a ``start_line`` that is the
    line itself is a 422, so it is left out."""
    place: dict[str, Any] = {"side": comment.side.value, "line": comment.line}
    if comment.start_line is not None and comment.start_line != comment.line:
        place |= {"start_line": comment.start_line, "start_side": comment.side.value}
    return place


def submit_review(repo: str, number: int, review_id: int) -> Request:
    """Make a pending review visible, as COMMENT and never as anything else."""
    return Request(
        "POST",
        f"{repository(repo)}/pulls/{number}/reviews/{review_id}/events",
        body={"event": "COMMENT"},
    )


def delete_review(repo: str, number: int, review_id: int) -> Request:
    """Delete a pending review."""
    return Request("DELETE", f"{repository(repo)}/pulls/{number}/reviews/{review_id}")


def create_pull_comment(repo: str, number: int, head: str, comment: DraftComment) -> Request:
    """A review comment by itself."""
    return Request(
        "POST",
        f"{repository(repo)}/pulls/{number}/comments",
        body={"commit_id": head, **review_entry(comment)},
    )


def reply(repo: str, number: int, comment_id: int, body: str) -> Request:
    """An answer in the thread that ``comment_id`` started."""
    return Request(
        "POST",
        f"{repository(repo)}/pulls/{number}/comments/{comment_id}/replies",
        body={"body": body},
    )


def create_issue_comment(repo: str, number: int, body: str) -> Request:
    """A comment in the conversation."""
    return Request("POST", f"{repository(repo)}/issues/{number}/comments", body={"body": body})


def react(repo: str, source: str, comment_id: int, content: str) -> Request:
    """A reaction to an issue comment or a review comment; a second equal one changes nothing."""
    kind = "pulls" if source == REVIEW_COMMENT else "issues"
    return Request(
        "POST",
        f"{repository(repo)}/{kind}/comments/{comment_id}/reactions",
        body={"content": content},
    )


def permission(repo: str, login: str) -> Request:
    """What a person may do in a repository."""
    return get(f"{repository(repo)}/collaborators/{quote(login, safe='')}/permission")


def create_check(
    repo: str, head: str, external_id: str, title: str, summary: str,
    annotations: Sequence[Mapping[str, Any]],
) -> Request:  # fmt: skip
    """A finished check run, neutral: it informs and blocks nothing."""
    return Request(
        "POST",
        f"{repository(repo)}/check-runs",
        body={
            "name": CHECK_NAME,
            "head_sha": head,
            "external_id": external_id,
            "status": "completed",
            "conclusion": "neutral",
            "output": _output(title, summary, annotations),
        },
    )


def add_annotations(
    repo: str, check_id: int, title: str, summary: str, annotations: Sequence[Mapping[str, Any]]
) -> Request:
    """The next fifty annotations: GitHub appends them to those that are there."""
    return Request(
        "PATCH",
        f"{repository(repo)}/check-runs/{check_id}",
        body={"output": _output(title, summary, annotations)},
    )


def checks(repo: str, head: str) -> Request:
    """Our check runs of a commit."""
    return named_checks(repo, head, CHECK_NAME)


def named_checks(repo: str, head: str, name: str) -> Request:
    """The check runs of this name of a commit."""
    return listing(f"{repository(repo)}/commits/{quote(head, safe='')}/check-runs", check_name=name)


def create_queue_check(
    repo: str, head: str, external_id: str, title: str, summary: str,
    buttons: Sequence[tuple[str, str, str]], details_url: str = "",
) -> Request:  # fmt: skip
    """A neutral check run with buttons: (identifier, label, description) each, three at most.

    GitHub takes 20, 20 and 40 characters. A press comes as ``check_run.requested_action``.
    """
    body: dict[str, Any] = {
        "name": QUEUE_NAME,
        "head_sha": head,
        "external_id": external_id,
        "status": "completed",
        "conclusion": "neutral",
        "output": _output(title, summary, ()),
        "actions": [
            {"identifier": identifier, "label": label, "description": description}
            for identifier, label, description in buttons
        ],
    }
    if details_url:
        body["details_url"] = details_url
    return Request("POST", f"{repository(repo)}/check-runs", body=body)


def annotation(path: str, first: int, last: int, message: str) -> dict[str, Any]:
    """One annotation of head lines."""
    return {
        "path": path,
        "start_line": first,
        "end_line": last,
        "annotation_level": "notice",
        "message": message,
    }


def _output(title: str, summary: str, annotations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if len(annotations) > MOST_ANNOTATIONS:
        raise ValueError(f"{len(annotations)} annotations in one request: at most 50")
    return {"title": title, "summary": summary, "annotations": [dict(a) for a in annotations]}


def sided(side: str) -> Side:
    """GitHub's word for a side; anything unknown is the head's."""
    return Side.LEFT if side == "LEFT" else Side.RIGHT
