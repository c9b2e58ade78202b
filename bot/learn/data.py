"""All that was learnt of a team: to be seen, taken away and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.ledger import MODEL_KEY
from bot.feedback.tables import AnchorRow, ApprovalRow, FeedbackEvent, OutcomeRow
from bot.learn.store import Learnt
from bot.store.database import Database
from bot.store.memory import repo_scope
from bot.store.tables import Dismissal, ReviewRow, SettingRow

Row = dict[str, Any]
PEOPLE = ("by",)
"""Columns with logins: they say who decided, not what was learnt, and stay out of the export."""


def exported(database: Database, repository: str | None = None) -> Iterator[Row]:
    """Everything that was learnt, one row at a time, each with its ``kind``.

    ``remark`` (from history), ``outcome`` and its ``event`` (what became of our comments),
    ``decision`` (in the queue), ``dismissal``, ``calibration``. No person is named. A column that
    is itself called ``kind`` is shown as ``candidate_kind`` or, of an event, ``event_kind``.
    """
    for remark in Learnt(database).remarks(repository):
        yield {"kind": "remark", **asdict(remark)}
    with database.read() as session:
        numbers = _numbers(session, repository)
        outcomes = _columns(session, sa.select(OutcomeRow), OutcomeRow.repository_id, numbers)
        comments = [row["comment_id"] for row in outcomes]
        for row in outcomes:
            yield _named("outcome", row, "candidate_kind")
        for start in range(0, len(comments), 500):
            events = sa.select(FeedbackEvent).where(
                FeedbackEvent.comment_id.in_(comments[start : start + 500])
            )
            for row in _rows(session, events):
                yield _named("event", row, "event_kind")
        for row in _columns(session, sa.select(ApprovalRow), ApprovalRow.repository_id, numbers):
            yield _named("decision", row, "candidate_kind")
        for row in _columns(session, sa.select(Dismissal), Dismissal.repository_id, numbers):
            yield _named("dismissal", row, "candidate_kind")
        scopes = None if numbers is None else [repo_scope(number) for number in numbers]
        models = sa.select(SettingRow).where(SettingRow.key == MODEL_KEY)
        for row in _columns(session, models, SettingRow.scope, scopes):
            yield _named("calibration", row, "setting_kind")


def _named(kind: str, row: Row, own: str) -> Row:
    """A row under its ``kind``; a column of that name would hide it, so it goes by ``own``."""
    return {"kind": kind, **{own if name == "kind" else name: row[name] for name in row}}


def deleted(database: Database, repository: str | None = None) -> list[Row]:
    """Delete everything that ``exported`` shows; how many of each kind there were.

    What was posted stays known, so that it is not posted again; what a person dismissed may come
    back.
    """
    counts = [{"kind": "remark", "deleted": Learnt(database).delete(repository)}]
    with database.write() as session:
        numbers = _numbers(session, repository)
        mine = sa.true() if numbers is None else OutcomeRow.repository_id.in_(numbers)
        comments = sa.select(OutcomeRow.comment_id).where(mine)
        waiting = sa.select(ApprovalRow.comment_id).where(_of(ApprovalRow.repository_id, numbers))
        scopes = None if numbers is None else [repo_scope(number) for number in numbers]
        for kind, statement in (
            ("event", sa.delete(FeedbackEvent).where(FeedbackEvent.comment_id.in_(comments))),
            ("lines", sa.delete(AnchorRow).where(
                sa.or_(AnchorRow.comment_id.in_(comments), AnchorRow.comment_id.in_(waiting)))),
            ("outcome", sa.delete(OutcomeRow).where(mine)),
            ("decision", sa.delete(ApprovalRow).where(_of(ApprovalRow.repository_id, numbers))),
            ("dismissal", sa.delete(Dismissal).where(_of(Dismissal.repository_id, numbers))),
            ("calibration", sa.delete(SettingRow).where(
                SettingRow.key == MODEL_KEY, _of(SettingRow.scope, scopes))),
        ):  # fmt: skip
            done: Any = session.execute(statement)
            counts.append({"kind": kind, "deleted": int(done.rowcount)})
    return counts


def _numbers(session: Session, repository: str | None) -> list[int] | None:
    """The numbers under which a repository was seen; ``None`` for all repositories."""
    if repository is None:
        return None
    found: set[int] = set()
    for table in (OutcomeRow, ReviewRow, ApprovalRow):
        query = sa.select(table.repository_id).where(
            sa.func.lower(table.repository) == repository.lower()
        )
        found |= set(session.execute(query.distinct()).scalars())
    return sorted(found)


def _of(column: Any, values: list[Any] | None) -> sa.ColumnElement[bool]:
    return sa.true() if values is None else column.in_(values)


def _columns(session: Session, query: Any, column: Any, values: list[Any] | None) -> list[Row]:
    return list(_rows(session, query.where(_of(column, values))))


def _rows(session: Session, query: Any) -> Iterator[Row]:
    for row in session.execute(query).scalars():
        yield {
            column.key: getattr(row, column.key)
            for column in sa.inspect(type(row)).columns
            if column.key not in PEOPLE
        }
