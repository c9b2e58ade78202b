"""What a person may see and do, as GitHub says: read with their own token, kept for a minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.github.errors import Answered, Unauthorized
from bot.github.requests import listing
from bot.jobs.forge import Transient
from bot.settings import Settings
from bot.web.oauth import api_of
from bot.web.people import Person

FRESH_SECONDS = 60.0
"""How old what GitHub said may be where someone only looks."""
FRESH_TO_ACT_SECONDS = 5.0
"""And where someone decides something."""
AWAY_SECONDS = 600.0
"""While GitHub does not answer, people go on seeing what they saw so lately."""
MOST_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A repository that the person may see; ``write`` where they may decide."""

    id: int
    name: str
    write: bool


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation of the App that the person has part in, with its page on GitHub."""

    account: str
    url: str
    slug: str


@dataclass(frozen=True, slots=True)
class Access:
    """All of it, as of ``read_at`` (seconds of a clock that only goes forward)."""

    repositories: Mapping[int, Seen]
    installations: tuple[Installed, ...]
    read_at: float

    @property
    def names(self) -> list[str]:
        """The repositories' names, in order."""
        return sorted((one.name for one in self.repositories.values()), key=str.lower)

    def named(self, name: str) -> Seen | None:
        """The repository with this ``owner/name``; case does not count."""
        wanted = name.lower()
        return next((s for s in self.repositories.values() if s.name.lower() == wanted), None)


class AccessDesk:
    """Reads and keeps what people may see; share one between the threads of a process."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, Access] = {}
        self._reading: dict[str, threading.Lock] = {}

    def of(self, person: Person, at_most: float = FRESH_SECONDS) -> Access:
        """What the person may see, not older than ``at_most`` seconds.

        Raises ``Unauthorized`` where their token is good no longer, and other ``ForgeError``
        where GitHub does not say; what was said within ``AWAY_SECONDS`` stands in for looking.
        """
        known = self._fresh(person, at_most)
        if known is not None:
            return known
        with self._lock:
            reading = self._reading.setdefault(person.session, threading.Lock())
        with reading:  # a page's several requests ask GitHub once
            known = self._fresh(person, at_most)
            if known is not None:
                return known
            try:
                access = self._read(person)
            except Unauthorized:
                self.forget(person)
                raise
            except Transient:
                old = self._fresh(person, AWAY_SECONDS)
                if old is None or at_most < FRESH_SECONDS:
                    raise
                return old
        self._keep(person, access)
        return access

    def forget(self, person: Person) -> None:
        """Drop what is kept of a person who signed out."""
        with self._lock:
            self._kept.pop(person.session, None)
            self._reading.pop(person.session, None)

    def clear(self) -> None:
        """Drop everything that is kept."""
        with self._lock:
            self._kept.clear()

    def _fresh(self, person: Person, at_most: float) -> Access | None:
        found = self._kept.get(person.session)
        return None if found is None or self._clock() - found.read_at > at_most else found

    def _keep(self, person: Person, access: Access) -> None:
        with self._lock:
            self._kept[person.session] = access
            while len(self._kept) > MOST_KEPT:
                oldest = min(self._kept, key=lambda name: self._kept[name].read_at)
                self._kept.pop(oldest)
                self._reading.pop(oldest, None)

    def _read(self, person: Person) -> Access:
        api = api_of(self._settings, person.token)
        seen: dict[int, Seen] = {}
        installed = []
        began = self._clock()
        for row in api.items(listing("/user/installations"), "installations"):
            installed.append(_installed(row))
            path = f"/user/installations/{int(row['id'])}/repositories"
            try:
                for repo in api.items(listing(path), "repositories"):
                    name = str(repo["full_name"])
                    if self._settings.serves(name):
                        write = bool((repo.get("permissions") or {}).get("push"))
                        seen[int(repo["id"])] = Seen(int(repo["id"]), name, write)
            except Unauthorized:
                raise
            except Answered:
                continue  # suspended, or removed since the list was read
        return Access(seen, tuple(installed), began)


def _installed(row: Mapping[str, Any]) -> Installed:
    account = (row.get("account") or {}).get("login") or "an account"
    return Installed(str(account), str(row.get("html_url") or ""), str(row.get("app_slug") or ""))
