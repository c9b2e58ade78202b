"""The learnt remarks of repositories as reviews ask for them, made anew when they change."""

from __future__ import annotations

import threading
from collections import OrderedDict

import sqlalchemy as sa

from bot.learn.store import Learnt
from bot.learn.tables import LearntRemark
from bot.review.history import PastRemarks
from bot.store.database import Database

MOST_REMARKS = 20_000
"""Remarks of one repository that are indexed, the latest."""
MOST_KEPT = 8
"""Repositories whose index is kept in memory."""
_Stamp = tuple[int, int]


class Histories:
    """Indexes straight from the ledger, so that every worker has them and nothing outlives a
    ``marginalia data delete``; one a worker process, shared by its threads."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[_Stamp, PastRemarks]] = OrderedDict()

    def of(self, repository: str) -> PastRemarks | None:
        """The remarks of ``owner/name``; ``None`` where nothing was learnt of it."""
        key = repository.lower()
        stamp = self._stamp(key)
        with self._lock:
            if stamp[0] == 0:
                self._kept.pop(key, None)
                return None
            known = self._kept.get(key)
            if known is None or known[0] != stamp:
                remarks = [one for one in Learnt(self._db).remarks(key) if one.comment]
                known = (stamp, PastRemarks(remarks[-MOST_REMARKS:]))
                self._kept[key] = known
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            return known[1]

    def _stamp(self, key: str) -> _Stamp:
        query = sa.select(sa.func.count(), sa.func.max(LearntRemark.id)).where(
            LearntRemark.repository_key == key
        )
        with self._db.read() as session:
            count, last = session.execute(query).one()
        return int(count), int(last or 0)
