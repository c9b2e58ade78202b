"""Group commit: many requests at once, one transaction, one sync of the disk.

A delivery is answered only after its commit. On SQLite a commit costs a disk sync and writers
take turns, so requests that wait for the running commit are written together in the next one.
"""

from __future__ import annotations

import threading
import time

from sqlalchemy.exc import SQLAlchemyError

from bot.store.database import Database
from bot.store.deliveries import Deliveries, EnqueueNew, NewDelivery, Recorded

MAX_BATCH = 64


class _Ticket:
    __slots__ = ("error", "new", "result")

    def __init__(self, new: NewDelivery) -> None:
        self.new = new
        self.result: Recorded | None = None
        self.error: SQLAlchemyError | None = None

    @property
    def done(self) -> bool:
        return self.result is not None or self.error is not None


class Recorder:
    """Writes deliveries durably; called by every web thread."""

    def __init__(self, database: Database, enqueue: EnqueueNew) -> None:
        self._db = database
        self._deliveries = Deliveries(database)
        self._enqueue = enqueue
        self._waiting: list[_Ticket] = []
        self._waiting_lock = threading.Lock()
        self._commit_lock = threading.Lock()

    def record(self, new: NewDelivery) -> Recorded:
        """Write ``new`` and return once it is on disk; raises SQLAlchemy's errors."""
        ticket = _Ticket(new)
        with self._waiting_lock:
            self._waiting.append(ticket)
        # Whoever gets the lock writes for everyone who waits; the others find their work done.
        while not ticket.done:
            with self._commit_lock:
                if not ticket.done:
                    self._commit()
        if ticket.error is not None:
            raise ticket.error
        if ticket.result is None:
            raise RuntimeError("a delivery was neither written nor refused")
        return ticket.result

    def _commit(self) -> None:
        with self._waiting_lock:
            batch = self._waiting[:MAX_BATCH]
            del self._waiting[: len(batch)]
        try:
            self._write(batch)
        except SQLAlchemyError as error:
            if len(batch) == 1:
                batch[0].error = error
                return
            # One bad row must not cost its neighbours: each is written for itself.
            for ticket in batch:
                try:
                    self._write([ticket])
                except SQLAlchemyError as own:
                    ticket.error = own

    def _write(self, batch: list[_Ticket]) -> None:
        now = time.time()
        with self._db.writer() as connection:
            # In one order everywhere, so that two processes never wait for each other's rows.
            ordered = sorted(batch, key=lambda ticket: (ticket.new.target, ticket.new.guid))
            results = [
                self._deliveries.record(connection, ticket.new, now, self._enqueue)
                for ticket in ordered
            ]
        for ticket, result in zip(ordered, results, strict=True):
            ticket.result = result
