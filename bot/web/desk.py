"""What every page needs: the ledger, the queue, who is there and what they may do."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from flask import abort, g

from bot.jobs.queue import JobQueue
from bot.settings import Settings
from bot.store.database import Database
from bot.store.ledger import Ledger
from bot.web.access import FRESH_SECONDS, FRESH_TO_ACT_SECONDS, Access, AccessDesk, Seen
from bot.web.people import Person, Sessions
from bot.web.reports import ReportDesk


@dataclass(frozen=True, slots=True)
class Desk:
    """The pages' state; one a process. ``now`` is the ledger's kind of clock."""

    settings: Settings
    ledger: Ledger
    queue: JobQueue
    access: AccessDesk
    sessions: Sessions
    reports: ReportDesk
    now: Callable[[], float] = field(default=time.time)

    @classmethod
    def of(cls, settings: Settings, ledger: Ledger, queue: JobQueue) -> Desk:
        """The desk of a process."""
        database = ledger.database
        return cls(
            settings,
            ledger,
            queue,
            AccessDesk(settings),
            Sessions(database),
            ReportDesk(database, settings),
        )

    @property
    def database(self) -> Database:
        """The ledger's database."""
        return self.ledger.database

    @property
    def person(self) -> Person:
        """Who asks; 401 where nobody is signed in."""
        person = g.get("person")
        if person is None:
            abort(401)
        return cast(Person, person)

    @property
    def seen(self) -> Access:
        """What the person who asks may see; the same for all of a request."""
        if g.get("seen") is None:
            g.seen = self.access.of(self.person, FRESH_SECONDS)
        return cast(Access, g.seen)

    def reader(self, repository_id: int) -> Seen:
        """The repository, if the person may see it; else 404: it is not there for them."""
        found = self.seen.repositories.get(repository_id)
        if found is None:
            abort(404)
        return found

    def reader_of(self, name: str) -> Seen:
        """The same by ``owner/name``."""
        found = self.seen.named(name)
        if found is None:
            abort(404)
        return found

    def writer(self, repository_id: int) -> Seen:
        """The repository, if the person may decide there: 404 unseen, 403 without write."""
        g.seen = self.access.of(self.person, FRESH_TO_ACT_SECONDS)
        found = self.seen.repositories.get(repository_id)
        if found is None:
            abort(404)
        if not found.write:
            abort(403)
        return found
