"""Who works: heartbeats, leases, and waits that the forge asked for."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.tables import Hold, Lease, Worker


class Workers:
    """The ledger's workers, leases and holds; all by the database's clock."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def beat(self, executor: str, host: str, pid: int) -> None:
        """Say that this process is alive."""
        with self._db.write() as session:
            now = self._db.now(session)
            row = session.get(Worker, executor)
            if row is None:
                session.add(
                    Worker(executor=executor, host=host, pid=pid, started_at=now, beat_at=now)
                )
            else:
                row.beat_at = now

    def stop(self, executor: str) -> None:
        """Say goodbye: what this process still had can be taken over at once."""
        with self._db.write() as session:
            row = session.get(Worker, executor)
            if row is not None:
                row.stopped = True

    def alive(self, lease: float) -> set[str]:
        """The executors heard of within ``lease`` seconds that did not say goodbye."""
        with self._db.read() as session:
            now = self._db.now(session)
            query = sa.select(Worker.executor).where(
                Worker.beat_at > now - lease, Worker.stopped.is_(False)
            )
            return set(session.execute(query).scalars())

    def forget_dead(self, older_than: float) -> None:
        """Drop workers that were not heard of for so many seconds."""
        with self._db.write() as session:
            now = self._db.now(session)
            session.execute(sa.delete(Worker).where(Worker.beat_at < now - older_than))

    def take_lease(self, name: str, holder: str, seconds: float) -> bool:
        """Take or renew a task that only one process does at a time.

        Who is asked every second by every worker does not write every second: a lease of someone
        else's, or an own one of which half is left, is only looked at.
        """
        with self._db.read() as session:
            now = self._db.now(session)
            row = session.get(Lease, name)
            if row is not None and row.until > now:
                if row.holder != holder:
                    return False
                if row.until - now > seconds / 2:
                    return True
        with self._db.write() as session:
            self._db.lock(session, f"lease:{name}")
            now = self._db.now(session)
            row = session.get(Lease, name)
            if row is not None and row.holder != holder and row.until > now:
                return False
            session.merge(Lease(name=name, holder=holder, until=now + seconds))
            return True

    def hold(self, scope: str, seconds: float, reason: str) -> None:
        """Ask everyone to leave ``scope`` of the forge alone for so long; the longest wait counts.

        ``scope`` is ``installation:<id>``, or ``token``.
        """
        with self._db.write() as session:
            self._db.lock(session, f"hold:{scope}")
            until = self._db.now(session) + seconds
            row = session.get(Hold, scope)
            if row is None or row.until < until:
                session.merge(Hold(scope=scope, until=until, reason=reason))

    def held_for(self, scope: str) -> tuple[float, str]:
        """For how many seconds still, and why; ``(0, "")`` where nothing holds."""
        with self._db.read() as session:
            row = session.get(Hold, scope)
            if row is None:
                return 0.0, ""
            left = row.until - self._db.now(session)
            return (left, row.reason) if left > 0 else (0.0, "")


def forge_scope(installation_id: int | None) -> str:
    """The name under which an installation's rate limit is shared."""
    return "token" if installation_id is None else f"installation:{installation_id}"
