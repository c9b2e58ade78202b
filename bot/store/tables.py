"""The ledger's tables.

Times are seconds since the epoch, UTC, as floats: they are compared and subtracted, never shown
without formatting. States are short words (the enums below), stored as text so that a person can
read the database. Nothing here is deleted but by ``bot.store.retention``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from bot.store.text import CleanText, Compressed

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
Big = sa.BigInteger()
# SQLite numbers rows by itself only in a column declared INTEGER.
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class DeliveryState(StrEnum):
    """How far a delivery has come."""

    RECEIVED = "received"
    HANDLED = "handled"
    IGNORED = "ignored"
    FAILED = "failed"
    PARKED = "parked"


class JobState(StrEnum):
    """How far a job has come; the first three are unfinished."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    SKIPPED = "skipped"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    FAILED = "failed"
    PARKED = "parked"


UNFINISHED = (JobState.QUEUED, JobState.RUNNING, JobState.WAITING)


class ReviewRowState(StrEnum):
    """What became of a drafted review."""

    DRAFTED = "drafted"
    PENDING = "pending"
    SUBMITTED = "submitted"
    EMPTY = "empty"
    SHADOW = "shadow"
    WAITING = "waiting"


class Base(DeclarativeBase):
    """The ledger's metadata; its constraints have stable names, so migrations can speak of them."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {
        dict[str, Any]: JSON,
        list[Any]: JSON,
        int: Big,
        str: CleanText,
    }


class Delivery(Base):
    """One delivery of one hook; GitHub gives every hook of an event the same GUID."""

    __tablename__ = "deliveries"
    __table_args__ = (sa.UniqueConstraint("target", "guid"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    target: Mapped[str]
    guid: Mapped[str]
    event: Mapped[str]
    action: Mapped[str] = mapped_column(default="")
    installation_id: Mapped[int | None]
    repository_id: Mapped[int | None]
    repository: Mapped[str] = mapped_column(default="")
    pull: Mapped[int | None]
    headers: Mapped[dict[str, Any]]
    body: Mapped[bytes | None] = mapped_column(Compressed)
    body_sha256: Mapped[str] = mapped_column(index=True)
    received_at: Mapped[float] = mapped_column(index=True)
    state: Mapped[str] = mapped_column(index=True)
    reason: Mapped[str] = mapped_column(default="")
    handled_at: Mapped[float | None]
    redeliveries: Mapped[int] = mapped_column(default=0)
    dispatch: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)
    defers: Mapped[int] = mapped_column(default=0)


class Request(Base):
    """The request numbers of a pull request: 0 for pushes, the next for every other key."""

    __tablename__ = "requests"
    __table_args__ = (sa.UniqueConstraint("repository_id", "pull", "number"),)

    repository_id: Mapped[int] = mapped_column(primary_key=True)
    pull: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int]


class Job(Base):
    """One review to make. ``id`` is repository id, pull, merge base, head and request number."""

    __tablename__ = "jobs"
    __table_args__ = (
        sa.Index(None, "repository_id", "pull"),
        sa.Index(None, "state"),
        sa.Index(None, "created_at"),
        sa.Index(None, "repository_id", "state", "created_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    repository_id: Mapped[int]
    repository: Mapped[str]
    pull: Mapped[int]
    installation_id: Mapped[int | None]
    merge_base: Mapped[str]
    head: Mapped[str]
    request_number: Mapped[int]
    kind: Mapped[str]
    key: Mapped[str] = mapped_column(default="")
    full: Mapped[bool] = mapped_column(default=False)
    requested_by: Mapped[str] = mapped_column(default="")
    delivery_id: Mapped[int | None] = mapped_column(index=True)
    state: Mapped[str]
    reason: Mapped[str] = mapped_column(default="")
    step: Mapped[str] = mapped_column(default="")
    dispatch: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)
    defers: Mapped[int] = mapped_column(default=0)
    holder: Mapped[str] = mapped_column(default="")
    created_at: Mapped[float]
    queued_at: Mapped[float]
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]


class ReviewRow(Base):
    """The review that a job made, from the draft to its number on the forge."""

    __tablename__ = "reviews"
    __table_args__ = (
        sa.Index(None, "repository_id", "pull"),
        sa.Index(None, "repository_id", "id"),
        sa.Index(None, "github_id"),
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    job_id: Mapped[str] = mapped_column(unique=True)
    repository_id: Mapped[int]
    repository: Mapped[str]
    pull: Mapped[int]
    merge_base: Mapped[str]
    head: Mapped[str]
    state: Mapped[str]
    body: Mapped[str]
    marker: Mapped[str]
    summary: Mapped[str] = mapped_column(default="")
    signature: Mapped[str] = mapped_column(default="")
    coverage: Mapped[list[Any]]
    notes: Mapped[list[Any]]
    timings: Mapped[dict[str, Any]]
    references: Mapped[list[Any]]
    github_id: Mapped[int | None]
    single: Mapped[bool] = mapped_column(default=False)
    url: Mapped[str] = mapped_column(default="")
    created_at: Mapped[float]
    submitted_at: Mapped[float | None]


class ReviewDiff(Base):
    """The hunks that a review was made of, as JSON (``bot.store.diffs``), for its page.

    Kept apart from the review, so that lists do not read it; it goes with the candidates.
    """

    __tablename__ = "review_diffs"

    review_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    files: Mapped[bytes] = mapped_column(Compressed)


class CandidateRow(Base):
    """Everything that could have been posted, with its scores and its verdict."""

    __tablename__ = "candidates"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    review_id: Mapped[int] = mapped_column(index=True)
    rank: Mapped[int]
    kind: Mapped[str]
    origin: Mapped[str]
    path: Mapped[str]
    side: Mapped[str]
    start_line: Mapped[int]
    line: Mapped[int]
    text: Mapped[str]
    replacement: Mapped[dict[str, Any] | None]
    confidence: Mapped[float]
    weakest: Mapped[float]
    severity: Mapped[str]
    url: Mapped[str]
    con: Mapped[float]
    comp: Mapped[float]
    rel: Mapped[float]
    judge: Mapped[float | None]
    similarity: Mapped[float]
    nearest: Mapped[dict[str, Any] | None]
    signature: Mapped[str]
    reason: Mapped[str] = mapped_column(index=True)
    detail: Mapped[str]
    fingerprint: Mapped[str] = mapped_column(index=True)


class CommentRow(Base):
    """One comment of a review; ``moved`` where it stands in the review's body instead."""

    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    review_id: Mapped[int] = mapped_column(index=True)
    candidate_id: Mapped[int | None]
    position: Mapped[int]
    path: Mapped[str]
    side: Mapped[str]
    start_line: Mapped[int | None]
    line: Mapped[int]
    body: Mapped[str]
    fingerprint: Mapped[str] = mapped_column(index=True)
    moved: Mapped[bool] = mapped_column(default=False)
    github_id: Mapped[int | None] = mapped_column(index=True)
    url: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="posted")
    changed_at: Mapped[float | None]


class ThreadRow(Base):
    """A thread that one of our comments started, as last seen."""

    __tablename__ = "threads"

    id: Mapped[str] = mapped_column(primary_key=True)
    repository_id: Mapped[int]
    pull: Mapped[int]
    comment_github_id: Mapped[int | None] = mapped_column(index=True)
    fingerprint: Mapped[str] = mapped_column(default="")
    resolved: Mapped[bool]
    by: Mapped[str] = mapped_column(default="")
    changed_at: Mapped[float]


class Dismissal(Base):
    """A remark that a person does not want to see again in this repository."""

    __tablename__ = "dismissals"

    repository_id: Mapped[int] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    pull: Mapped[int]
    by: Mapped[str] = mapped_column(default="")
    at: Mapped[float]


class Installation(Base):
    """An account that installed the App; ``state`` is active, suspended or removed."""

    __tablename__ = "installations"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account: Mapped[str]
    state: Mapped[str]
    selection: Mapped[str] = mapped_column(default="")
    permissions: Mapped[dict[str, Any]]
    changed_at: Mapped[float]


class InstalledRepository(Base):
    """A repository that an installation may see."""

    __tablename__ = "installed_repositories"

    installation_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    repository_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    repository: Mapped[str]


class SettingRow(Base):
    """A value kept by name: what a command changed, the last good configuration, cursors."""

    __tablename__ = "settings"

    scope: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
    by: Mapped[str] = mapped_column(default="")
    changed_at: Mapped[float]


class Worker(Base):
    """A worker process and when it was last heard of; ``stopped`` where it said goodbye."""

    __tablename__ = "workers"

    executor: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[float]
    beat_at: Mapped[float]
    stopped: Mapped[bool] = mapped_column(default=False)


class WebSession(Base):
    """Someone who is signed in. ``id`` is the SHA-256 of what their browser's cookie holds.

    ``token`` is their GitHub token, sealed with a key made of that same cookie: the database
    alone gives away neither.
    """

    __tablename__ = "web_sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    login: Mapped[str]
    token: Mapped[str]
    created_at: Mapped[float]
    ends_at: Mapped[float] = mapped_column(index=True)


class Lease(Base):
    """A task that only one process does at a time (the sweeper, the delivery list)."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(primary_key=True)
    holder: Mapped[str]
    until: Mapped[float]


class Hold(Base):
    """No requests to the forge for this scope before ``until``: it said so."""

    __tablename__ = "holds"

    scope: Mapped[str] = mapped_column(primary_key=True)
    until: Mapped[float]
    reason: Mapped[str]
