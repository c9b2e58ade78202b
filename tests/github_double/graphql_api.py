"""GraphQL for review threads: the query and the two mutations, by graphql-core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from flask import Blueprint, Response
from graphql import GraphQLError, GraphQLSchema, build_schema, graphql_sync

from tests.github_double import deliveries, render_pull
from tests.github_double.auth import allowed, can_read
from tests.github_double.errors import ApiError
from tests.github_double.records import Account, Pull, Repo, ReviewComment, Thread, node_id
from tests.github_double.web import answer, body, caller, root, world

blueprint = Blueprint("graphql", __name__)
T = TypeVar("T")
Json = dict[str, Any]
SCHEMA_FILE = Path(__file__).parent / "schema.graphql"


@cache
def schema() -> GraphQLSchema:
    """The part of GitHub's schema that is answered here."""
    return build_schema(SCHEMA_FILE.read_text("utf-8"))


@blueprint.post("/graphql")
def execute() -> Response:
    if caller().account is None:
        raise ApiError(401, "This endpoint requires you to be authenticated.")
    data = body()
    result = graphql_sync(
        schema(),
        data.get("query") or "",
        root_value=_Root(),
        variable_values=data.get("variables"),
        operation_name=data.get("operationName"),
    )
    out: Json = {"data": result.data}
    if result.errors:
        out["errors"] = [_error(e) for e in result.errors]
    return answer(out)


def _error(error: GraphQLError) -> Json:
    out: Json = dict(error.formatted)
    kind = (error.extensions or {}).get("type")
    out.pop("extensions", None)
    if kind:
        out["type"] = kind
    return out


def _refuse(kind: str, message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": kind})


class _Root:
    """What the fields of Query and Mutation resolve to."""

    def repository(self, _info: Any, owner: str, name: str, followRenames: bool = True) -> Json:
        repo = world().repos.get(f"{owner}/{name}".lower())
        if repo is None or not can_read(caller(), repo):
            raise _refuse(
                "NOT_FOUND",
                f"Could not resolve to a Repository with the name '{owner}/{name}'.",
            )
        return _repository(repo)

    def node(self, _info: Any, id: str) -> Json:
        return _thread(_find(id))

    def viewer(self, _info: Any) -> Json:
        return _actor(caller().account) or {}

    def resolveReviewThread(self, _info: Any, input: Json) -> Json:
        return _settle(input, resolved=True)

    def unresolveReviewThread(self, _info: Any, input: Json) -> Json:
        return _settle(input, resolved=False)


def _find(node: str) -> Thread:
    thread = world().thread_by_node(node)
    if thread is None or not can_read(caller(), thread.pull.repo):
        raise _refuse("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")
    return thread


def _settle(data: Json, *, resolved: bool) -> Json:
    thread = _find(data["threadId"])
    if not _may_resolve(thread):
        raise _refuse("FORBIDDEN", "Resource not accessible by integration")
    thread.resolved_by = caller().account if resolved else None
    word = "resolved" if resolved else "unresolved"
    me = caller().account
    deliveries.announce(world(), "pull_request_review_thread", word, thread, me)
    return {"clientMutationId": data.get("clientMutationId"), "thread": _thread(thread)}


def _may_resolve(thread: Thread) -> bool:
    """An App needs contents: write for this, whatever it may do with pull requests."""
    repo = thread.pull.repo
    if caller().installation is not None:
        return allowed(caller(), repo, "write", "contents")
    mine = caller().account is thread.pull.author
    return mine or allowed(caller(), repo, "write", "contents")


def _actor(account: Account | None) -> Json | None:
    if account is None:
        return None
    kind = account.type
    # GraphQL writes a bot's login without the suffix.
    login = account.login.removesuffix("[bot]") if kind == "Bot" else account.login
    return {"__typename": kind, "id": node_id("U", account.id), "login": login}


def _repository(repo: Repo) -> Json:
    def pull_request(_info: Any, number: int) -> Json:
        pull = repo.pulls.get(number)
        if pull is None:
            raise _refuse(
                "NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}."
            )
        return _pull(pull)

    return {
        "__typename": "Repository",
        "id": node_id("R", repo.id),
        "name": repo.name,
        "nameWithOwner": repo.full_name,
        "isPrivate": repo.private,
        "pullRequest": pull_request,
    }


def _pull(pull: Pull) -> Json:
    state = "MERGED" if pull.merged_at else pull.state.upper()
    visible = [
        t
        for t in pull.threads
        if t.comments[0].review.state != "PENDING" or t.comments[0].author is caller().account
    ]
    return {
        "__typename": "PullRequest",
        "id": node_id("PR", pull.id),
        "number": pull.number,
        "title": pull.title,
        "isDraft": pull.draft,
        "state": state,
        "headRefOid": pull.head_sha,
        "baseRefOid": pull.base_sha,
        "reviewThreads": _connection(visible, _thread),
    }


def _thread(thread: Thread) -> Json:
    top = thread.comments[0]
    resolver = _actor(thread.resolved_by)
    may = _may_resolve(thread)
    return {
        "__typename": "PullRequestReviewThread",
        "id": node_id("PRRT", thread.id),
        "isResolved": thread.resolved_by is not None,
        "isOutdated": top.line is None and top.subject_type == "line",
        "isCollapsed": thread.resolved_by is not None,
        "path": top.path,
        "line": top.line,
        "originalLine": top.original_line,
        "startLine": top.start_line,
        "originalStartLine": top.original_start_line,
        "diffSide": top.side,
        "startDiffSide": top.start_side,
        "resolvedBy": resolver,
        "viewerCanReply": True,
        "viewerCanResolve": may and thread.resolved_by is None,
        "viewerCanUnresolve": may and thread.resolved_by is not None,
        "comments": _connection(thread.comments, _comment),
        "pullRequest": lambda _info: _pull(thread.pull),
    }


def _comment(comment: ReviewComment) -> Json:
    shown = render_pull.review_comment(root(), comment)
    small = comment.id if comment.id < 2**31 else None
    review = comment.review
    top = comment.thread.comments[0]
    return {
        "__typename": "PullRequestReviewComment",
        "id": shown["node_id"],
        # databaseId is a 32-bit number that newer comments no longer fit.
        "databaseId": small,
        "fullDatabaseId": str(comment.id),
        "author": _actor(comment.author),
        "body": comment.body,
        "path": comment.path,
        "createdAt": comment.created_at,
        "updatedAt": comment.updated_at,
        "outdated": comment.line is None and comment.subject_type == "line",
        "url": shown["html_url"],
        "viewerDidAuthor": comment.author is caller().account,
        "isMinimized": comment.hidden != "",
        "minimizedReason": comment.hidden or None,
        "line": comment.line,
        "originalLine": comment.original_line,
        "commit": {"id": f"C_{comment.commit_id[:16]}", "oid": comment.commit_id},
        "originalCommit": {
            "id": f"C_{comment.original_commit_id[:16]}",
            "oid": comment.original_commit_id,
        },
        "pullRequestReview": {
            "id": node_id("PRR", review.id),
            "databaseId": None,
            "fullDatabaseId": str(review.id),
        },
        "replyTo": None if comment is top else lambda _info: _comment(top),
    }


def _connection(items: Sequence[T], show: Callable[[T], Json]) -> Callable[..., Json]:
    def resolve(
        _info: Any,
        first: int | None = None,
        last: int | None = None,
        after: str | None = None,
        before: str | None = None,
    ) -> Json:
        if first is None and last is None:
            raise _refuse(
                "MISSING_PAGINATION_BOUNDARIES",
                "You must provide a `first` or `last` value to properly paginate the connection.",
            )
        if max(first or 0, last or 0) > 100:
            raise _refuse("EXCESSIVE_PAGINATION", "Requesting more than 100 records is refused.")
        start = int(after) if after else 0
        stop = int(before) - 1 if before else len(items)
        if first is not None:
            stop = min(stop, start + first)
        elif last is not None:
            start = max(start, stop - last)
        return {
            "nodes": [show(item) for item in items[start:stop]],
            "totalCount": len(items),
            "pageInfo": {
                "endCursor": str(stop) if stop > start else None,
                "startCursor": str(start + 1) if stop > start else None,
                "hasNextPage": stop < len(items),
                "hasPreviousPage": start > 0,
            },
        }

    return resolve
