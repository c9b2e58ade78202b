"""The ledger's tables of feedback: what was seen of each comment, and its state."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.tables import JSON, Base, RowId


class FeedbackEvent(Base):
    """One thing seen of a comment; the unique columns make a repeated one no second one."""

    __tablename__ = "feedback_events"
    __table_args__ = (sa.UniqueConstraint("comment_id", "kind", "at", "key", "holds", "by_person"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    comment_id: Mapped[int]
    kind: Mapped[str]
    at: Mapped[float]
    key: Mapped[str] = mapped_column(default="")
    holds: Mapped[bool]
    by_person: Mapped[bool]
    followed: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class OutcomeRow(Base):
    """A comment's state, with what the calibration needs of its candidate.

    The candidate itself may be forgotten (``bot.store.retention``); this row stays, and holds no
    text and no person's name. ``ended_at`` is when a final state was reached.
    """

    __tablename__ = "feedback_outcomes"
    __table_args__ = (sa.Index(None, "repository_id", "final"), sa.Index(None, "installation_id"))

    comment_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    repository_id: Mapped[int]
    repository: Mapped[str]
    installation_id: Mapped[int | None]
    pull: Mapped[int]
    origin: Mapped[str]
    kind: Mapped[str]
    language: Mapped[str]
    prior: Mapped[float]
    rel: Mapped[float]
    confidence: Mapped[float]
    posted_at: Mapped[float]
    state: Mapped[str]
    final: Mapped[bool]
    edit_progress: Mapped[float | None]
    ended_at: Mapped[float | None]
    changed_at: Mapped[float]
