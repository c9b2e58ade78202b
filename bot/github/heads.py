"""Files at commits over GitHub's API (``bot.feedback.watcher.Heads``)."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from bot.feedback.watcher import Compared
from bot.github import requests as rq
from bot.github.auth import Identity
from bot.github.errors import Answered
from bot.jobs.forge import PullRef

MOST_COMPARED = 300
"""Files of a comparison that GitHub lists at most."""
MOST_BLOB = 8 * 1024 * 1024
_TRAILER = re.compile(r"(?im)^co-authored-by:[ \t]*(.+?)[ \t]*<[^<>\n]*>[ \t]*$")


class GitHubHeads:
    """Reads under one identity; safe to share between threads."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def compared(self, ref: PullRef, base: str, head: str) -> Compared | None:
        """The merge base and the files that the head side changed (300 at most)."""
        api = self._identity.api(ref.installation_id)
        try:
            data = api.data(rq.compare(ref.repository, base, head))
        except Answered as error:
            if error.status in (404, 422):
                return None
            raise
        rows = data.get("files") or []
        there = [row for row in rows if row.get("status") != "removed"]
        gone = [row["filename"] for row in rows if row.get("status") == "removed"]
        gone += [row["previous_filename"] for row in there if row.get("previous_filename")]
        return Compared(
            str(data["merge_base_commit"]["sha"]),
            tuple(str(row["filename"]) for row in there),
            tuple(map(str, gone)),
            len(rows) < MOST_COMPARED,
        )

    def text(self, ref: PullRef, path: str, commit: str) -> bytes | None:
        """A file at a commit; a folder, a link and what is too large count as none."""
        api = self._identity.api(ref.installation_id)
        try:
            data = api.data(rq.contents(ref.repository, path, commit))
        except Answered as error:
            if error.status in (403, 404, 422):
                return None
            raise
        if not isinstance(data, dict) or data.get("type") != "file":
            return None
        if data.get("encoding") == "base64":
            return _decoded(data)
        if int(data.get("size") or 0) > MOST_BLOB:
            return None
        # above 1 MB the content is left out; the blob has it
        return _decoded(api.data(rq.blob(ref.repository, str(data["sha"]))))

    def credited(self, ref: PullRef, commit: str) -> frozenset[str]:
        """The files of a commit whose message has us in a ``Co-authored-by`` line; else none."""
        api = self._identity.api(ref.installation_id)
        try:
            data = api.data(rq.commit(ref.repository, commit))
        except Answered as error:
            if error.status in (403, 404, 422):
                return frozenset()
            raise
        message = str((data.get("commit") or {}).get("message") or "")
        credited = {match[1].lower() for match in _TRAILER.finditer(message)}
        if self._identity.login.lower() not in credited:
            return frozenset()
        return frozenset(str(row["filename"]) for row in data.get("files") or [])


def _decoded(data: Any) -> bytes | None:
    try:
        return base64.b64decode(str(data.get("content") or ""))
    except binascii.Error:
        return None
