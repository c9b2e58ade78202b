"""Reading history from GitHub: the review comments of merged pull requests and what followed.

What followed is read from the blobs, as for our own comments: the commented lines as the comment
found them are looked for in the head that was merged (``bot.feedback.region``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from bot.feedback.region import Anchor, Fate, follow
from bot.feedback.watcher import Heads
from bot.github import requests as rq
from bot.github.client import Api
from bot.github.errors import Answered
from bot.jobs.forge import PullRef, Transient
from bot.learn.remarks import (
    Remark,
    is_bot,
    is_small_talk,
    key_of,
    without_people,
    without_text,
)
from models.change import Side

PAGE = 50
"""Pull requests listed at a time."""
LONGEST_WAIT = 3_700.0
"""The longest wait, in seconds, for a limit that GitHub names: it is reset every hour."""
TRIES = 6
SINCE = "since"
EVER = "1970-01-01T00:00:00Z"
Place = list[Any]
"""``[page, number, begun]`` while history is read for the first time: the page of the list of
closed pull requests (oldest first), the last number read on it, and GitHub's time at the
beginning. ``["since", time]`` afterwards: what was closed or written before is known."""
T = TypeVar("T")


class History:
    """The merged pull requests of one repository.

    Args:
        api: speaks to GitHub.
        heads: reads files at commits.
        ref: names the repository (the pull request's number does not count).
        tell: told about waits, one line each.
    """

    def __init__(
        self,
        api: Api,
        heads: Heads,
        ref: PullRef,
        tell: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._api = api
        self._heads = heads
        self._ref = ref
        self._tell = tell
        self._sleep = sleep
        self._people: set[str] = set()

    def batches(self, after: Place | None = None) -> Iterator[tuple[list[Remark], Place]]:
        """A pull request's remarks at a time, and the place behind it.

        Waits where GitHub asks for it; raises ``ForgeError`` where it refuses.
        """
        if after is not None and after[0] == SINCE:
            yield from self._newer(str(after[1]))
        else:
            yield from self._all(after)

    def _all(self, after: Place | None) -> Iterator[tuple[list[Remark], Place]]:
        """Everything, the oldest first: what is closed meanwhile moves no row out of sight."""
        page, last = (1, 0) if after is None else (int(after[0]), int(after[1]))
        begun = str(after[2]) if after is not None and len(after) > 2 else self._latest()
        while True:
            rows = self._listed(page, "created", "asc")
            for row in rows:
                if int(row["number"]) > last:
                    last = int(row["number"])
                    yield self._remarks(row), [page, last, begun]
            if len(rows) < PAGE:
                yield [], [SINCE, begun]
                return
            page += 1

    def _newer(self, since: str) -> Iterator[tuple[list[Remark], Place]]:
        """What has changed since that time, the newest first.

        A pull request that was open before may be older than all that is known. The place moves
        at the end only: a run that is cut short begins again, and finds nothing twice.
        """
        page, newest = 1, since
        while True:
            rows = self._listed(page, "updated", "desc")
            for row in rows:
                changed = str(row["updated_at"])
                if changed < since:
                    yield [], [SINCE, newest]
                    return
                newest = max(newest, changed)
                yield self._remarks(row), [SINCE, since]
            if len(rows) < PAGE:
                yield [], [SINCE, newest]
                return
            page += 1

    def _latest(self) -> str:
        """When a closed pull request changed last, by GitHub's clock."""
        rows = self._listed(1, "updated", "desc", 1)
        return str(rows[0]["updated_at"]) if rows else EVER

    def _listed(
        self, page: int, sort: str, direction: str, size: int | None = None
    ) -> list[dict[str, Any]]:
        path = f"{rq.repository(self._ref.repository)}/pulls"
        asked = rq.listing(
            path, size or PAGE, state="closed", sort=sort, direction=direction, page=page
        )
        return list(self._patiently(partial(self._api.data, asked)))

    def _remarks(self, pull: dict[str, Any]) -> list[Remark]:
        if not pull.get("merged_at"):
            return []
        number = int(pull["number"])
        listed = rq.pull_comments(self._ref.repository, number)
        rows = self._patiently(lambda: list(self._api.items(listed)))
        author = _login(pull)
        self._people |= {author, *(_login(row) for row in rows)} - {""}
        made = []
        for row in sorted(rows, key=lambda row: int(row["id"])):
            user = row.get("user") or {}
            if row.get("in_reply_to_id") or is_bot(_login(row), str(user.get("type") or "")):
                continue
            if _login(row) == author:
                continue
            remark = self._remark(row, str(pull["head"]["sha"]))
            if remark is not None:
                made.append(remark)
        return made

    def _remark(self, row: dict[str, Any], merged: str) -> Remark | None:
        comment = without_people(str(row.get("body") or ""), self._people)
        hunk = str(row.get("diff_hunk") or "")
        line = row.get("original_line") or row.get("line")
        if is_small_talk(comment) or not hunk or not isinstance(line, int):
            return None
        followed = self._patiently(lambda: self._followed(row, line, merged))
        made = Remark(
            key=key_of(row["id"]),
            repository=self._ref.repository,
            path=str(row["path"]),
            line=line,
            side=str(row.get("side") or "RIGHT"),
            diff_hunk=hunk,
            comment=comment,
            followed=followed,
            at=datetime.fromisoformat(str(row["created_at"]).replace("Z", "+00:00")).timestamp(),
        )
        return without_text(made) if followed is False else made

    def _followed(self, row: dict[str, Any], line: int, merged: str) -> bool | None:
        """Whether the lines were changed after the comment; ``None`` where that cannot be told."""
        if row.get("side") == "LEFT":
            return None
        path = str(row["path"])
        text = self._heads.text(self._ref, path, str(row.get("original_commit_id") or ""))
        if text is None:
            return None
        start = row.get("original_start_line") or line
        try:
            anchor = Anchor(path, text, int(start), line, None, Side.RIGHT)
        except ValueError:
            return None
        fate = follow(anchor, self._heads.text(self._ref, path, merged)).fate
        return fate is not Fate.UNCHANGED

    def _patiently(self, ask: Callable[[], T]) -> T:
        for attempt in range(TRIES):
            try:
                return ask()
            except Transient as error:
                wait = error.retry_after or 2.0**attempt
                if attempt == TRIES - 1 or wait > LONGEST_WAIT:
                    raise
                self._tell(f"{error}: going on in {wait:.0f} s")
                self._sleep(wait)
        raise AssertionError("unreachable")


def told(place: Place) -> str:
    """A place for a person."""
    return f"up to {place[1]}" if place[0] == SINCE else f"#{place[1]}"


def repository_ref(api: Api, name: str, installation: int | None) -> PullRef:
    """A repository's lasting name; raises ``Answered`` where there is none."""
    data = api.data(rq.get(rq.repository(name)))
    return PullRef(int(data["id"]), str(data["full_name"]), 0, installation)


def installation_of(api: Api, name: str) -> int | None:
    """The App's installation on a repository; ``None`` where it is not installed."""
    try:
        return int(api.data(rq.get(f"{rq.repository(name)}/installation"))["id"])
    except Answered as error:
        if error.status == 404:
            return None
        raise


def _login(row: dict[str, Any]) -> str:
    return str((row.get("user") or {}).get("login") or "")
