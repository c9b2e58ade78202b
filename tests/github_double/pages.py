"""A plain page of a pull request, so that a person can read what was posted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from tests.github_double import pulls
from tests.github_double.records import Pull
from tests.github_double.reviews import comments_of
from tests.github_double.world import World

_STYLE = (
    "body{font:15px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre{background:#8881;padding:.7rem;overflow:auto;white-space:pre-wrap}"
    "section{border:1px solid #8885;border-radius:6px;padding:.7rem 1rem;margin:1rem 0}"
    "small{opacity:.7}"
)


class Pages:
    """The WSGI application of the pages under ``/OWNER/NAME/pull/N``."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        match = re.match(r"^/([^/]+)/([^/]+)/pull/(\d+)", environ["PATH_INFO"])
        assert match is not None
        with self.world.lock:
            repo = self.world.repos.get(f"{match[1]}/{match[2]}".lower())
            pull = repo.pulls.get(int(match[3])) if repo else None
            text = _page(pull) if pull else None
        if text is None:
            start("404 Not Found", [("Content-Type", "text/plain")])
            return [b"no such pull request\n"]
        start("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        return [text.encode()]


def _page(pull: Pull) -> str:
    parts = [
        f"<h1>{escape(pull.title)} <small>#{pull.number}</small></h1>",
        f"<p>{escape(pull.author.login)} wants {escape(pull.head_ref)} "
        f"({pull.head_sha[:7]}) in {escape(pull.base_ref)}; {pull.state}</p>",
    ]
    for review in pull.reviews:
        parts.append(
            f"<section><small>review {review.id}, {review.state}, by "
            f"{escape(review.author.login)} on {review.commit_id[:7]}</small>"
            f"<pre>{escape(review.body)}</pre>"
        )
        for comment in comments_of(review):
            where = f"{comment.path}:{comment.line or 'outdated'}"
            parts.append(
                f"<h3>{escape(where)}</h3><pre>{escape(comment.diff_hunk)}</pre>"
                f"<pre>{escape(comment.body)}</pre>"
            )
        parts.append("</section>")
    for said in pull.comments:
        parts.append(
            f"<section><small>{escape(said.author.login)}</small>"
            f"<pre>{escape(said.body)}</pre></section>"
        )
    parts.append("<h2>Files</h2>")
    for found in pulls.pull_diff(pull).files:
        patch = found.patch.decode(errors="replace")
        parts.append(f"<h3>{escape(found.path)}</h3><pre>{escape(patch)}</pre>")
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(pull.title)}</title>"
        f"<style>{_STYLE}</style>{''.join(parts)}"
    )
