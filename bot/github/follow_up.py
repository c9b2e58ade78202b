"""After a review: threads whose code is gone are resolved, a check run is posted where wanted.

Both are extras: what GitHub does not allow becomes a note and nothing fails for it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from bot.github import requests as rq
from bot.github.client import Api
from bot.github.errors import Answered
from bot.github.markers import comment_fingerprint, comment_marker
from bot.github.reviews import Reviews
from bot.github.text import clip
from bot.jobs.forge import PostedReview, PullRef

MOST_RESOLVED = 30
"""Threads resolved at most after one push: each is a write."""
MOST_MESSAGE = 60_000
"""An annotation's message may have 64 KB."""

_RESOLVE = """mutation Resolve($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }"""


def resolve_gone(api: Api, ref: PullRef, reviews: Reviews, head: str) -> tuple[str, ...]:
    """Resolve our open, outdated threads whose commented line is nowhere in the head's file.

    Needs ``contents: write`` (GitHub answers FORBIDDEN without): then nothing is resolved and a
    note says why. Threads on deleted lines are left to people.
    """
    stale = [t for t in reviews.threads() if t.outdated and not t.resolved and t.side == "RIGHT"]
    if not stale:
        return ()
    hunks = {
        int(row["id"]): str(row.get("diff_hunk") or "")
        for row in api.items(rq.pull_comments(ref.repository, ref.number))
    }
    texts: dict[str, frozenset[str] | None] = {}
    done = 0
    for thread in stale:
        line = _commented_line(hunks.get(thread.comment_id, ""))
        if not line:
            continue
        if thread.path not in texts:
            texts[thread.path] = _lines(api, ref, thread.path, head)
        lines = texts[thread.path]
        if lines is None or line in lines:
            continue
        if done == MOST_RESOLVED:
            return (f"{done} threads whose code is gone were resolved; more are left open",)
        try:
            api.graphql(_RESOLVE, {"id": thread.id}, writes=True)
        except Answered as error:
            if error.status == 403:
                return (
                    "threads whose code is gone stay open: resolving them needs the permission "
                    "contents: write",
                )
            return (f"a thread whose code is gone stays open: {error}",)
        done += 1
    return ()


def post_check(
    api: Api, ref: PullRef, head: str, posted: PostedReview | None, rows: Sequence[dict[str, Any]]
) -> tuple[str, ...]:
    """Post a neutral check run with an annotation for every comment on head lines, in fifties.

    ``rows`` are the review's comments as GitHub gives them. A run that is already there for this
    review is not posted again.
    """
    external = f"marginalia-{posted.id if posted else 0}"
    try:
        for run in api.items(rq.checks(ref.repository, head), "check_runs"):
            if run.get("external_id") == external:
                return ()
        notes = annotations_of(rows)
        title = "nothing to remark" if not rows else f"{len(rows)} remarks"
        title = "1 remark" if len(rows) == 1 else title
        summary = (
            f"[The review]({posted.url})" if posted and posted.url else "No review was posted."
        )
        first, rest = notes[: rq.MOST_ANNOTATIONS], notes[rq.MOST_ANNOTATIONS :]
        made = api.data(rq.create_check(ref.repository, head, external, title, summary, first))
        while rest:
            part, rest = rest[: rq.MOST_ANNOTATIONS], rest[rq.MOST_ANNOTATIONS :]
            api.send(rq.add_annotations(ref.repository, int(made["id"]), title, summary, part))
    except Answered as error:
        if error.status in (403, 404):
            return ("no check run: it needs the permission checks: write, which only Apps have",)
        return (f"no check run: {error}",)
    return ()


def annotations_of(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Annotations for a review's comments; those on the base's side have no line to stand on."""
    made = []
    for row in rows:
        line = row.get("line") or row.get("original_line")
        if row.get("side") == "LEFT" or not line:
            continue
        body = str(row.get("body") or "")
        mark = comment_marker(comment_fingerprint(body))
        text = body.rstrip().removesuffix(mark).rstrip() or "see the review"
        first = row.get("start_line") or row.get("original_start_line") or line
        made.append(
            rq.annotation(str(row["path"]), int(first), int(line), clip(text, MOST_MESSAGE))
        )
    return made


def _commented_line(hunk: str) -> str:
    """The text of the line that a comment is on: its diff hunk ends there."""
    rows = hunk.split("\n")
    last = rows[-1] if rows else ""
    return " ".join(last[1:].split()) if last[:1] in ("+", " ") else ""


def _lines(api: Api, ref: PullRef, path: str, head: str) -> frozenset[str] | None:
    """The head file's lines without their spacing; ``None`` where that cannot be told."""
    try:
        data = api.data(rq.contents(ref.repository, path, head))
    except Answered as error:
        return frozenset() if error.status == 404 else None
    if not isinstance(data, dict) or data.get("encoding") != "base64":
        return None
    try:
        raw = base64.b64decode(str(data.get("content", "")))
    except binascii.Error:
        return None
    text = raw.decode("utf-8", "replace")
    return frozenset(" ".join(row.split()) for row in text.split("\n"))
