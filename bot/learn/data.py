"""All that was learnt and recorded of a team: to be seen, taken away and deleted."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.tables import ApprovalRow, OutcomeRow
from bot.jobs.queue import review_workflow
from bot.learn.registry import KEPT, Condition, Kept, Whose
from bot.store.database import Database
from bot.store.tables import (
    UNFINISHED,
    Delivery,
    InstalledRepository,
    Job,
    ReviewRow,
    SettingRow,
)

Row = dict[str, Any]
BATCH = 500
NAME = "name"
"""The setting of a repository's scope with its present and its older names."""


def exported(
    database: Database, repository: str | None = None, everything: bool = False
) -> Iterator[Row]:
    """Everything that is kept of a repository, or of all, row by row, each with its ``kind``.

    The kinds are those of ``bot.learn.registry``: ``remark`` (from history), ``outcome`` and its
    ``event``, ``decision`` (in the queue), ``dismissal``, ``candidate``, ``diff`` and so on. No
    column that names a person is shown. A column that is itself called ``kind`` goes by another
    name (``candidate_kind``, ``event_kind``, ``request_kind``). ``everything`` adds what is long
    and may name people: whole files under comments, diffs, the bodies of deliveries.
    """
    whose = _whose(database, repository)
    for kept in KEPT:
        yield from _rows(database, kept, whose, everything)


def deleted(database: Database, repository: str | None = None) -> list[Row]:
    """Delete everything that ``exported`` shows; how many rows of each kind, and how many are left.

    What was posted stays known by its fingerprint alone, so that it is not posted again, and which
    patches were reviewed; what a person dismissed may come back. ``left`` are rows in use: of a
    review that is being posted, of a job or a delivery that is not done. They can be deleted later.
    """
    whose = _whose(database, repository)
    counts = []
    for kept in KEPT:
        mine = _mine(kept, whose)
        if kept.only is not None:
            mine = sa.and_(mine, kept.only)
        free = mine if kept.but is None else sa.and_(mine, sa.not_(kept.but))
        with database.write() as session:
            done: Any
            if kept.blank is None:
                done = session.execute(sa.delete(kept.table).where(free))
            else:
                done = session.execute(sa.update(kept.table).where(free).values(**kept.blank))
            row: Row = {"kind": kept.kind, "deleted": int(done.rowcount)}
            if kept.but is not None:
                query = sa.select(sa.func.count()).select_from(kept.table)
                left = session.execute(query.where(sa.and_(mine, kept.but))).scalar_one()
                row |= {"left": int(left)} if left else {}
            counts.append(row)
    return counts


def workflows(database: Database, repository: str | None = None) -> list[str]:
    """The job library's names of all that was done for a repository's jobs that have ended.

    What their steps gave each other is kept there for a day: the title of the pull request, say.
    """
    whose = _whose(database, repository)
    query = sa.select(Job.id, Job.dispatch).where(Job.state.not_in(UNFINISHED))
    if whose is not None:
        query = query.where(Job.repository_id.in_(whose.numbers))
    with database.read() as session:
        ended = session.execute(query.order_by(Job.id)).all()
    return [review_workflow(job, number) for job, last in ended for number in range(last + 1)]


def _rows(database: Database, kept: Kept, whose: Whose | None, everything: bool) -> Iterator[Row]:
    mapped = sa.inspect(kept.table)
    hidden = kept.people if everything else kept.people | kept.wide
    names = [column.key for column in mapped.columns if column.key not in hidden]
    columns = [getattr(kept.table, name) for name in names]
    keys = [
        getattr(kept.table, mapped.get_property_by_column(column).key)
        for column in mapped.primary_key
    ]
    last: tuple[Any, ...] | None = None
    while True:
        # by key, a piece at a time: a ledger may be larger than memory
        query = sa.select(*columns, *keys).where(_mine(kept, whose)).order_by(*keys).limit(BATCH)
        if last is not None:
            query = query.where(sa.tuple_(*keys) > sa.tuple_(*map(sa.literal, last)))
        with database.read() as session:
            found = session.execute(query).all()
        for row in found:
            values = {
                (kept.own or "own_kind") if name == "kind" else name: _plain(value)
                for name, value in zip(names, row, strict=False)
            }
            yield {"kind": kept.kind, **values}
        if len(found) < BATCH:
            return
        last = tuple(found[-1][len(columns) :])


def _plain(value: Any) -> Any:
    """A value as JSON has it; bytes as text where they are text."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}


def _mine(kept: Kept, whose: Whose | None) -> Condition:
    return sa.true() if whose is None else kept.of(whose)


def names_of(database: Database, repository: str) -> tuple[str, ...]:
    """A repository's names, in lower case: the given one, and those that it had before."""
    whose = _whose(database, repository)
    return () if whose is None else whose.names


def _whose(database: Database, repository: str | None) -> Whose | None:
    """A repository with the numbers under which it was seen; ``None`` for all repositories."""
    if repository is None:
        return None
    name = repository.lower()
    with database.read() as session:
        seen = names_seen(session)
    numbers = {number for number, known in seen if known == name}
    # a name that another repository has had as well may be that one's now
    others = {known for number, known in seen if number not in numbers}
    names = {known for number, known in seen if number in numbers} - others
    return Whose(name, tuple(sorted(numbers)), tuple(sorted(names | {name})))


def names_seen(session: Session) -> set[tuple[int, str]]:
    """Every repository's number with every name under which it was seen, in lower case."""
    found: set[tuple[int, str]] = set()
    for table in (OutcomeRow, ReviewRow, ApprovalRow, Job, Delivery, InstalledRepository):
        query = sa.select(table.repository_id, sa.func.lower(table.repository)).distinct()
        found |= {(number, name) for number, name in session.execute(query) if number and name}
    # rows that were put under a new name (bot.renames) tell of the older ones no more
    query = sa.select(SettingRow.scope, SettingRow.value).where(SettingRow.key == NAME)
    for scope, value in session.execute(query):
        number = int(scope.rpartition(":")[2])
        found |= {(number, name) for name in (value["name"].lower(), *value["older"])}
    return found
