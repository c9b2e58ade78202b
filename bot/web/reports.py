"""The feedback reports of repositories: worked out beside the requests, shown when they are ready.

A report fits the calibration anew for every month, which takes longer than a page may. So it is
made in a thread of its own and kept until a comment's state changes; the page shows the last one
meanwhile, and its counts, which come straight from the ledger.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import sqlalchemy as sa

from bot.feedback.calibration import Choices
from bot.feedback.ledger import Feedback
from bot.feedback.report import DAYS_30, Report, make_report
from bot.feedback.tables import OutcomeRow
from bot.kept_config import choices_of, kept_config
from bot.settings import Settings
from bot.store.database import Database
from bot.store.memory import Memory

MOST_KEPT = 200
WAIT_SECONDS = 0.04
"""A small repository's report is ready before a page would be late."""
_HELD_BACK_SECONDS = 3600.0
"""How old a report may get while no outcome changes: what was held back moves with the days."""


Stamp = tuple[int, float, float, Choices]
"""Comments, the last change of one, and what the repository's configuration chose."""


@dataclass(frozen=True, slots=True)
class Made:
    """A report with the state of the ledger it was made of; ``at`` in seconds since the epoch,
    ``sure`` the threshold in force there."""

    report: Report
    stamp: Stamp
    at: float
    sure: float


class ReportDesk:
    """Makes and keeps reports; share one between the threads of a process."""

    def __init__(
        self, database: Database, settings: Settings, now: Callable[[], float] = time.time
    ) -> None:
        self._db = database
        self._feedback = Feedback(database)
        self._memory = Memory(database)
        self._settings = settings
        self._now = now
        self._lock = threading.Lock()
        self._made: dict[int, Made] = {}
        self._under_way: dict[int, Future[Made]] = {}
        self._worker = ThreadPoolExecutor(1, "marginalia-report")

    def get(self, repository_id: int, repository: str) -> tuple[Made | None, bool]:
        """The newest report that there is, and whether a newer one is being made."""
        stamp = self._stamp(repository_id, repository)
        with self._lock:
            made = self._made.get(repository_id)
            if made and made.stamp == stamp and self._now() - made.at < _HELD_BACK_SECONDS:
                return made, False
            future = self._under_way.get(repository_id)
            if future is None:
                future = self._worker.submit(self._make, repository_id, stamp)
                self._under_way[repository_id] = future
        try:
            return future.result(WAIT_SECONDS), False
        except TimeoutError:
            return made, True

    def close(self) -> None:
        """Let what is being made end, and make no more."""
        self._worker.shutdown(cancel_futures=True)

    def _stamp(self, repository_id: int, repository: str) -> Stamp:
        query = sa.select(sa.func.count(), sa.func.max(OutcomeRow.changed_at)).where(
            OutcomeRow.repository_id == repository_id
        )
        with self._db.read() as session:
            count, last = session.execute(query).one()
        config = kept_config(self._memory, self._settings, repository_id, repository)
        return int(count), float(last or 0), config.sure, choices_of(config)

    def _make(self, repository_id: int, stamp: Stamp) -> Made:
        _, _, sure, choices = stamp
        try:
            now = self._now()
            report = make_report(
                self._feedback.outcomes(repository_id),
                self._feedback.held_back(repository_id, now - DAYS_30, now),
                now,
                sure,
                choices,
            )
            made = Made(report, stamp, now, sure)
            with self._lock:
                self._made[repository_id] = made
                while len(self._made) > MOST_KEPT:
                    self._made.pop(min(self._made, key=lambda key: self._made[key].at))
            return made
        finally:
            with self._lock:
                self._under_way.pop(repository_id, None)
