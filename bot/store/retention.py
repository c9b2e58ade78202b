"""Forgetting: bodies after days, the rest after months; never what is unfinished."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.tables import (
    UNFINISHED,
    CandidateRow,
    CommentRow,
    Delivery,
    DeliveryState,
    Job,
    ReviewDiff,
    ReviewRow,
    WebSession,
)

BATCH = 500


def forget_old(database: Database, now: float, keep: float, keep_bodies: float) -> None:
    """Drop bodies older than ``keep_bodies`` seconds and rows older than ``keep`` seconds.

    Candidates and diffs go; comments stay, because a remark once posted or dismissed must not
    come back on a pull request that is open for longer than that.
    """
    while _forget_bodies(database, now - min(keep, keep_bodies)):
        pass
    while _forget_deliveries(database, now - keep):
        pass
    while _forget_candidates(database, now - keep):
        pass
    while _forget_diffs(database, now - keep):
        pass
    while _forget_jobs(database, now - keep):
        pass
    with database.write() as session:
        session.execute(sa.delete(WebSession).where(WebSession.ends_at < now))


def _forget_bodies(database: Database, before: float) -> int:
    query = (
        sa.select(Delivery.id)
        .where(
            Delivery.received_at < before,
            Delivery.body.is_not(None),
            Delivery.state != DeliveryState.RECEIVED,
        )
        .limit(BATCH)
    )
    with database.write() as session:
        ids = list(session.execute(query).scalars())
        session.execute(sa.update(Delivery).where(Delivery.id.in_(ids)).values(body=None))
    return len(ids)


def _forget_deliveries(database: Database, before: float) -> int:
    query = (
        sa.select(Delivery.id)
        .where(Delivery.received_at < before, Delivery.state != DeliveryState.RECEIVED)
        .limit(BATCH)
    )
    with database.write() as session:
        ids = list(session.execute(query).scalars())
        session.execute(sa.delete(Delivery).where(Delivery.id.in_(ids)))
    return len(ids)


def _forget_candidates(database: Database, before: float) -> int:
    query = (
        sa.select(CandidateRow.id)
        .join(ReviewRow, ReviewRow.id == CandidateRow.review_id)
        .where(ReviewRow.created_at < before)
        .limit(BATCH)
    )
    with database.write() as session:
        ids = list(session.execute(query).scalars())
        session.execute(
            sa.update(CommentRow).where(CommentRow.candidate_id.in_(ids)).values(candidate_id=None)
        )
        session.execute(sa.delete(CandidateRow).where(CandidateRow.id.in_(ids)))
    return len(ids)


def _forget_diffs(database: Database, before: float) -> int:
    query = (
        sa.select(ReviewDiff.review_id)
        .join(ReviewRow, ReviewRow.id == ReviewDiff.review_id)
        .where(ReviewRow.created_at < before)
        .limit(BATCH)
    )
    with database.write() as session:
        ids = list(session.execute(query).scalars())
        session.execute(sa.delete(ReviewDiff).where(ReviewDiff.review_id.in_(ids)))
    return len(ids)


def _forget_jobs(database: Database, before: float) -> int:
    """Jobs that never posted; a posted one's row is what keeps its patch from a second review."""
    query = (
        sa.select(Job.id)
        .where(
            Job.created_at < before,
            Job.state.not_in(UNFINISHED),
            ~sa.exists().where(ReviewRow.job_id == Job.id),
        )
        .limit(BATCH)
    )
    with database.write() as session:
        ids = list(session.execute(query).scalars())
        session.execute(sa.delete(Job).where(Job.id.in_(ids)))
    return len(ids)
