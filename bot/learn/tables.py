"""The ledger's table of what was learnt from history."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.tables import Base, RowId


class LearntRemark(Base):
    """A past remark of a person, without the person (``bot.learn.remarks.Remark``)."""

    __tablename__ = "learnt_remarks"
    __table_args__ = (sa.UniqueConstraint("repository_key", "key"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    repository_key: Mapped[str]
    repository: Mapped[str]
    key: Mapped[str]
    path: Mapped[str]
    language: Mapped[str]
    line: Mapped[int | None]
    side: Mapped[str]
    diff_hunk: Mapped[str]
    comment: Mapped[str]
    followed: Mapped[bool | None]
    at: Mapped[float]
