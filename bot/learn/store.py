"""What was learnt, in the ledger: a batch and how far it came are written together.

So a run that is killed goes on where its last batch ended, and nothing is there twice: the place
is in the same transaction, and a remark's key is unique within its repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from bot.feedback.calibration import Observed
from bot.learn.remarks import Remark
from bot.learn.tables import LearntRemark
from bot.store.database import Database
from bot.store.tables import SettingRow
from models.syntax import language_of

CURSOR = "cursor"
ORIGIN = "retrieval:rcg"
"""The origin of a past remark that is said again: what people's remarks teach counts for it."""
PRIOR = 0.5
"""How sure a remark said again is, before anything is known of the team."""


def scope_of(source: str) -> str:
    """The scope of a source's place among the settings."""
    return f"learn:{source.lower()}"


class Learnt:
    """The remarks in the ledger."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def place(self, source: str) -> Any:
        """How far a source was read, as ``put`` left it; ``None`` at the beginning."""
        with self._db.read() as session:
            row = session.get(SettingRow, (scope_of(source), CURSOR))
            return None if row is None else row.value

    def put(self, source: str, remarks: Sequence[Remark], place: Any, now: float) -> int:
        """Keep remarks and how far the source was read; how many were new."""
        with self._db.write() as session:
            self._db.lock(session, scope_of(source))
            known = self._known(session, remarks)
            fresh: dict[tuple[str, str], Remark] = {}
            for one in remarks:
                name = (one.repository.lower(), one.key)
                if name not in known:
                    fresh.setdefault(name, one)
            session.add_all(_row(one) for one in fresh.values())
            session.merge(
                SettingRow(scope=scope_of(source), key=CURSOR, value=place, by="", changed_at=now)
            )
            return len(fresh)

    @staticmethod
    def _known(session: Any, remarks: Sequence[Remark]) -> set[tuple[str, str]]:
        query = sa.select(LearntRemark.repository_key, LearntRemark.key).where(
            LearntRemark.key.in_([one.key for one in remarks])
        )
        return {(name, key) for name, key in session.execute(query)}

    def repositories(self) -> dict[str, int]:
        """Each repository's name with its number of remarks."""
        query = (
            sa.select(sa.func.max(LearntRemark.repository), sa.func.count(LearntRemark.id))
            .group_by(LearntRemark.repository_key)
            .order_by(LearntRemark.repository_key)
        )
        with self._db.read() as session:
            return {str(name): int(count) for name, count in session.execute(query)}

    def remarks(self, repository: str | None = None) -> Iterator[Remark]:
        """What was learnt of a repository, or of all, in the order in which it came."""
        query = sa.select(LearntRemark).order_by(LearntRemark.id)
        if repository is not None:
            query = query.where(LearntRemark.repository_key == repository.lower())
        last = 0
        while True:
            with self._db.read() as session:
                rows = list(
                    session.execute(query.where(LearntRemark.id > last).limit(500)).scalars()
                )
            if not rows:
                return
            yield from map(_remark, rows)
            last = rows[-1].id

    def observed(self, repository: str) -> list[Observed]:
        """What became of people's own remarks, as the calibration's first data."""
        return [
            Observed(f"learnt:{one.key}", one.at, ORIGIN, PRIOR, bool(one.followed))
            for one in self.remarks(repository)
            if one.followed is not None
        ]


def shares(remarks: Iterable[Remark]) -> Mapping[str, int]:
    """How many remarks there are, how many were followed, and of how many that is known."""
    counts = {"remarks": 0, "known": 0, "followed": 0, "suggestions": 0}
    for one in remarks:
        counts["remarks"] += bool(one.comment)
        counts["known"] += one.followed is not None
        counts["followed"] += one.followed is True
        counts["suggestions"] += "```suggestion" in one.comment
    return counts


def _row(one: Remark) -> LearntRemark:
    return LearntRemark(
        repository_key=one.repository.lower(),
        repository=one.repository,
        key=one.key,
        path=one.path,
        language=language_of(one.path) or "other",
        line=one.line,
        side=one.side,
        diff_hunk=one.diff_hunk,
        comment=one.comment,
        followed=one.followed,
        at=one.at,
    )


def _remark(row: LearntRemark) -> Remark:
    return Remark(
        row.key, row.repository, row.path, row.line, row.side, row.diff_hunk, row.comment,
        row.followed, row.at,
    )  # fmt: skip
