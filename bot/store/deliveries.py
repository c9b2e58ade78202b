"""Deliveries: recorded once for each (hook target, GUID), handled, retried, parked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from bot.store.database import Database
from bot.store.tables import Delivery, DeliveryState, Job, JobState

Enqueue = Callable[[Session, Delivery, float], None]
"""Queues a delivery's handling within the transaction, after a delay in seconds."""


class EnqueueNew(Protocol):
    """Queues a delivery's handling within the transaction that records it."""

    def __call__(self, connection: sa.Connection, delivery_id: int, dispatch: int = 0) -> None:
        """Queue one dispatch of the delivery with this number."""
        ...


# Built once: the webhook's one statement, at every delivery.
_ZEROS = {"redeliveries": 0, "dispatch": 0, "tries": 0, "defers": 0}
_INSERT_SQLITE = (
    sqlite.insert(Delivery)
    .values(_ZEROS)
    .on_conflict_do_nothing(index_elements=["target", "guid"])
    .returning(Delivery.id)
)
_INSERT_POSTGRESQL = (
    postgresql.insert(Delivery)
    .values(_ZEROS)
    .on_conflict_do_nothing(index_elements=["target", "guid"])
    .returning(Delivery.id)
)

REVIVED_BY_REDELIVERY = (JobState.FAILED, JobState.CANCELLED, JobState.SUPERSEDED)


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery as it came, with what its payload says about itself.

    ``state`` is ``RECEIVED`` for what must be handled and ``IGNORED`` (with a ``reason``) for the
    rest. ``target`` names the hook: type and number, ``integration:1234``.
    """

    target: str
    guid: str
    event: str
    body: bytes
    body_sha256: str
    headers: dict[str, str] = field(default_factory=dict)
    action: str = ""
    installation_id: int | None = None
    repository_id: int | None = None
    repository: str = ""
    pull: int | None = None
    state: DeliveryState = DeliveryState.RECEIVED
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the ledger made of a delivery: its number, and whether it was new or woken again."""

    id: int
    fresh: bool
    revived: bool = False


class Deliveries:
    """The ledger's deliveries."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def record(
        self, connection: sa.Connection, new: NewDelivery, now: float, enqueue: EnqueueNew
    ) -> Recorded:
        """Write a delivery and queue its handling; a repeated one wakes what it left unfinished."""
        insert = _INSERT_SQLITE if self._db.sqlite else _INSERT_POSTGRESQL
        values = {
            "target": new.target,
            "guid": new.guid,
            "event": new.event,
            "action": new.action,
            "installation_id": new.installation_id,
            "repository_id": new.repository_id,
            "repository": new.repository,
            "pull": new.pull,
            "headers": new.headers,
            "body": new.body,
            "body_sha256": new.body_sha256,
            "received_at": now,
            "state": new.state.value,
            "reason": new.reason,
        }
        made = connection.execute(insert, values).scalar_one_or_none()
        if made is not None:
            if new.state is DeliveryState.RECEIVED:
                enqueue(connection, made)
            return Recorded(made, fresh=True)
        with Session(connection, expire_on_commit=False) as session:
            return self._repeated(session, new, enqueue)

    def _repeated(self, session: Session, new: NewDelivery, enqueue: EnqueueNew) -> Recorded:
        row = session.execute(
            sa.select(Delivery)
            .where(Delivery.target == new.target, Delivery.guid == new.guid)
            .with_for_update()
        ).scalar_one()
        row.redeliveries += 1
        revive = row.state in (DeliveryState.FAILED, DeliveryState.PARKED) or (
            row.state == DeliveryState.HANDLED and self._left_unfinished(session, row.id)
        )
        if revive:
            # What retention took away comes with the redelivery again.
            row.body = new.body
            self._reset(row)
            enqueue(session.connection(), row.id, row.dispatch)
        session.flush()
        return Recorded(row.id, fresh=False, revived=revive)

    @staticmethod
    def _left_unfinished(session: Session, delivery_id: int) -> bool:
        query = sa.select(sa.func.count()).where(
            Job.delivery_id == delivery_id, Job.state.in_(REVIVED_BY_REDELIVERY)
        )
        return session.execute(query).scalar_one() > 0

    @staticmethod
    def _reset(row: Delivery) -> None:
        row.state = DeliveryState.RECEIVED
        row.reason = ""
        row.tries = 0
        row.defers = 0
        row.dispatch += 1

    def start(self, delivery_id: int, dispatch: int, max_tries: int) -> Delivery | None:
        """Begin handling: the row, or ``None`` where this dispatch no longer counts.

        Every start is a try, counted before the work, so that one which kills its worker each
        time is parked at last.
        """
        with self._db.write() as session:
            row = session.get(Delivery, delivery_id, with_for_update=True)
            if row is None or row.dispatch != dispatch or row.state != DeliveryState.RECEIVED:
                return None
            row.tries += 1
            if row.tries > max_tries:
                row.state = DeliveryState.PARKED
                row.reason = row.reason or f"gave up after {max_tries} tries"
                return None
            return row

    def finish(self, delivery_id: int, state: DeliveryState, reason: str, now: float) -> None:
        """Record how the handling ended."""
        with self._db.write() as session:
            row = session.get(Delivery, delivery_id, with_for_update=True)
            if row is not None and row.state == DeliveryState.RECEIVED:
                row.state = state
                row.reason = reason
                row.handled_at = now

    def defer(
        self, delivery_id: int, reason: str, delay: float, give_up_at: float, enqueue: Enqueue
    ) -> bool:
        """Handle it later: the forge is away. Not a try. False where it was parked instead."""
        with self._db.write() as session:
            row = session.get(Delivery, delivery_id, with_for_update=True)
            if row is None or row.state != DeliveryState.RECEIVED:
                return False
            row.reason = reason
            row.tries = max(0, row.tries - 1)
            row.defers += 1
            if row.received_at < give_up_at:
                row.state = DeliveryState.PARKED
                return False
            row.dispatch += 1
            enqueue(session, row, delay)
            return True

    def retry(self, delivery_id: int, enqueue: Enqueue) -> bool:
        """An operator's retry of a delivery that is not in work."""
        with self._db.write() as session:
            row = session.get(Delivery, delivery_id, with_for_update=True)
            if row is None or row.state == DeliveryState.RECEIVED or row.body is None:
                return False
            self._reset(row)
            enqueue(session, row, 0)
            return True

    def get(self, delivery_id: int) -> Delivery | None:
        """One delivery by its number."""
        with self._db.read() as session:
            return session.get(Delivery, delivery_id)

    def find(self, target: str, guid: str) -> Delivery | None:
        """One delivery by hook and GUID."""
        with self._db.read() as session:
            return session.execute(
                sa.select(Delivery).where(Delivery.target == target, Delivery.guid == guid)
            ).scalar_one_or_none()

    def known_guids(self, guids: Sequence[str]) -> set[str]:
        """Which of these GUIDs were received (by any hook)."""
        with self._db.read() as session:
            query = sa.select(Delivery.guid).where(Delivery.guid.in_(guids))
            return set(session.execute(query).scalars())

    def same_body(self, row: Delivery) -> int | None:
        """An earlier, handled delivery of the same event with the very same body, if any."""
        with self._db.read() as session:
            return session.execute(
                sa.select(sa.func.min(Delivery.id)).where(
                    Delivery.body_sha256 == row.body_sha256,
                    Delivery.event == row.event,
                    Delivery.id < row.id,
                    Delivery.state == DeliveryState.HANDLED,
                )
            ).scalar_one_or_none()

    def received_before(self, moment: float, limit: int = 500) -> list[Delivery]:
        """Deliveries that are still to be handled and came before ``moment``."""
        with self._db.read() as session:
            query = (
                sa.select(Delivery)
                .where(Delivery.state == DeliveryState.RECEIVED, Delivery.received_at < moment)
                .order_by(Delivery.id)
                .limit(limit)
            )
            return list(session.execute(query).scalars())

    def redispatch(self, row: Delivery, reason: str, delay: float, enqueue: Enqueue) -> bool:
        """Queue a delivery again whose workflow is gone or has failed."""
        with self._db.write() as session:
            current = session.get(Delivery, row.id, with_for_update=True)
            if (
                current is None
                or current.dispatch != row.dispatch
                or current.state != DeliveryState.RECEIVED
            ):
                return False
            current.dispatch += 1
            current.reason = reason or current.reason
            enqueue(session, current, delay)
            return True
