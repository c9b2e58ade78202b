"""Reading history from GitHub: the review comments of merged pull requests and what followed.

Who took part is asked for before the first text is kept, and again by every run: a login that
stands in a text is taken out whoever read the pull request where that person took part, and no
name need be kept from one run to the next. Their display names are asked for one by one, so of
those alone who took part in the pull request at hand.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from bot.feedback.watcher import Heads
from bot.github import requests as rq
from bot.github.client import Api
from bot.github.errors import Answered
from bot.github.markers import is_ours
from bot.jobs.forge import PullRef, Transient
from bot.learn.followed import Aftermath
from bot.learn.people import without_people
from bot.learn.remarks import (
    Dropped,
    Remark,
    is_bot,
    is_small_talk,
    key_of,
    without_text,
)

PAGE = 50
"""Pull requests listed at a time."""
PEOPLE_PAGE = 100
"""Rows listed at a time where only logins are read: the most that GitHub gives."""
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

    ``tally`` counts the comments that this object has read: ``Dropped``'s values and ``kept``.
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
        self._people: set[str] | None = None
        self._names: dict[str, str] = {}
        self.tally: Counter[str] = Counter()

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
        asked = rq.listing(
            self._pulls, size or PAGE, state="closed", sort=sort, direction=direction, page=page
        )
        return list(self._patiently(partial(self._api.data, asked)))

    @property
    def _pulls(self) -> str:
        return f"{rq.repository(self._ref.repository)}/pulls"

    def _remarks(self, pull: dict[str, Any]) -> list[Remark]:
        if not pull.get("merged_at"):
            return []
        number = int(pull["number"])
        listed = rq.pull_comments(self._ref.repository, number)
        rows = self._patiently(lambda: list(self._api.items(listed)))
        if not rows:
            return []
        author = _login(pull)
        present = {author, *map(_login, rows)}
        people = self._everyone() | present
        aftermath = Aftermath(self._heads, self._ref, str(pull["head"]["sha"]))
        made = []
        for row in sorted(rows, key=lambda row: int(row["id"])):
            found = _dropped(row, author) or self._remark(row, people, present, aftermath)
            if isinstance(found, Remark):
                made.append(found)
                self.tally["kept" if found.comment else Dropped.NOT_FOLLOWED] += 1
            else:
                self.tally[found] += 1
        return made

    def _remark(
        self, row: dict[str, Any], people: set[str], present: set[str], aftermath: Aftermath
    ) -> Remark | Dropped:
        names = {self._name(login) for login in present if login and not is_bot(login)}
        comment = without_people(str(row.get("body") or ""), people, names)
        hunk = str(row.get("diff_hunk") or "")
        line = row.get("original_line") or row.get("line")
        if is_small_talk(comment):
            return Dropped.SMALL_TALK
        if not hunk or not isinstance(line, int):
            return Dropped.NO_LINES
        followed = self._patiently(lambda: aftermath.of(row, line))
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

    def _name(self, login: str) -> str:
        """A person's display name; "" where they give none, or are gone."""
        if login not in self._names:
            try:
                row = self._patiently(lambda: self._api.data(rq.user(login)))
            except Answered as error:
                if error.status != 404:
                    raise
                row = {}
            self._names[login] = str(row.get("name") or "")
        return self._names[login]

    def _everyone(self) -> set[str]:
        """Who ever opened a pull request here or said something on a line of one."""
        if self._people is None:
            people = self._logins(self._pulls, {"state": "all"})
            people |= self._logins(f"{self._pulls}/comments", {})
            self._people = people - {""}
        return self._people

    def _logins(self, path: str, what: dict[str, str]) -> set[str]:
        found: set[str] = set()
        page = 1
        while True:
            # a page at a time: the rows of a large repository do not fit into memory
            asked = rq.listing(
                path, PEOPLE_PAGE, sort="created", direction="asc", page=page, **what
            )
            rows = self._patiently(partial(self._api.data, asked))
            found |= {_login(row) for row in rows}
            if len(rows) < PEOPLE_PAGE:
                return found
            page += 1

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


def _dropped(row: dict[str, Any], author: str) -> Dropped | None:
    """Why a comment is not a reviewer's remark; ``None`` where it is one."""
    login, kind = _login(row), str((row.get("user") or {}).get("type") or "")
    if row.get("in_reply_to_id"):
        return Dropped.REPLY
    if not login or is_bot(login, kind):
        return Dropped.BOT
    if is_ours(row.get("body")):
        return Dropped.OURS  # what it said itself is nothing to learn from
    return Dropped.AUTHOR if login == author else None


def _login(row: dict[str, Any]) -> str:
    return str((row.get("user") or {}).get("login") or "")
