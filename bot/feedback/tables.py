"""The ledger's tables of feedback: what was seen of each comment, its state, what waits."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.tables import JSON, Base, RowId
from bot.store.text import Compressed


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


class AnchorRow(Base):
    """The lines that a comment is about, as it found them, until its state is final.

    ``text`` is the whole file: commit ids do not survive force-pushes, and a blob of one may be
    gone from the forge when its fate is asked for. ``suggestion`` is a list of lines or ``None``.
    """

    __tablename__ = "feedback_anchors"

    comment_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    path: Mapped[str]
    side: Mapped[str]
    start_line: Mapped[int]
    line: Mapped[int]
    suggestion: Mapped[list[Any] | None] = mapped_column(JSON)
    text: Mapped[bytes] = mapped_column(Compressed)


class ApprovalRow(Base):
    """A candidate that waits for a person, and what the person decided.

    ``comment_id`` is the row of the comment as it was drafted (never posted itself), ``batch``
    the request under which the accepted ones are posted together, ``posted_id`` the row of the
    comment that came of it. ``repository_key`` is the repository's name in lower case. ``sealed``
    lets a worker post in the person's name for some minutes (``bot.handover``), then it is empty.
    """

    __tablename__ = "approvals"
    __table_args__ = (
        sa.UniqueConstraint("comment_id"),
        sa.Index(None, "state", "repository_key", "id"),
        sa.Index(None, "repository_id", "pull"),
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    comment_id: Mapped[int]
    candidate_id: Mapped[int | None]
    repository_id: Mapped[int]
    repository: Mapped[str]
    repository_key: Mapped[str]
    installation_id: Mapped[int | None]
    pull: Mapped[int]
    head: Mapped[str]
    path: Mapped[str]
    side: Mapped[str]
    start_line: Mapped[int]
    line: Mapped[int]
    kind: Mapped[str]
    origin: Mapped[str]
    fingerprint: Mapped[str]
    body: Mapped[str]
    suggestion: Mapped[str | None]
    before: Mapped[str]
    before_start: Mapped[int]
    con: Mapped[float]
    comp: Mapped[float]
    rel: Mapped[float]
    judge: Mapped[float | None]
    confidence: Mapped[float]
    sure: Mapped[float]
    grounds: Mapped[list[Any]]
    created_at: Mapped[float]
    state: Mapped[str]
    by: Mapped[str] = mapped_column(default="")
    decided_at: Mapped[float | None]
    batch: Mapped[str] = mapped_column(default="")
    posted_id: Mapped[int | None]
    problem: Mapped[str] = mapped_column(default="")
    sealed: Mapped[str] = mapped_column(default="", server_default="")
