"""A repository that got another name: GitHub's number stays, and what is kept follows it.

GitHub tells of a rename or a transfer (``repository.renamed``, ``.transferred``), and every
delivery shows the name as it was then. What the ledger keeps by number is put under the new name,
so that what waits is shown and posted there: the old name may be another repository's by now.
What is kept by name alone (what was learnt, the last good configuration) goes with it, unless the
ledger knows another repository that had the same name: then nobody can tell whose it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.tables import ApprovalRow, OutcomeRow
from bot.kept_config import GOOD
from bot.learn.data import NAME, names_seen
from bot.learn.harvest import move_harvest
from bot.learn.store import CURSOR, scope_of
from bot.learn.tables import LearntRemark
from bot.store.database import Database
from bot.store.memory import repo_scope
from bot.store.tables import InstalledRepository, Job, ReviewRow, SettingRow

_NUMBERED = (ApprovalRow, InstalledRepository, Job, OutcomeRow, ReviewRow)


class Names:
    """Keeps a repository's rows under its present name; ``data_dir`` has what was made of them."""

    def __init__(self, database: Database, data_dir: Path) -> None:
        self._db = database
        self._data_dir = data_dir

    def seen(self, number: int, name: str, at: float, before: str = "") -> tuple[str, ...]:
        """Note that a repository is called ``name`` (``owner/name``).

        ``at`` is when GitHub last changed the repository, as it said with the name: what comes late
        changes nothing back. ``before`` is a name that it had, where GitHub says so. The older
        names, in lower case, whose rows were moved; empty where nothing was.
        """
        scope, key = repo_scope(number), name.lower()
        with self._db.read() as session:
            if _known(session.get(SettingRow, (scope, NAME)), name, at, before):
                return ()
        with self._db.write() as session:
            self._db.lock(session, f"name:{number}")
            row = session.get(SettingRow, (scope, NAME))
            if _known(row, name, at, before):
                return ()
            known: dict[str, Any] = {"older": []} if row is None else row.value
            seen = names_seen(session)
            mine = {old for whose, old in seen if whose == number} | {before.lower()}
            others = {old for whose, old in seen if whose != number}
            older = sorted(mine - {key, ""})
            for table in _NUMBERED:
                values = {"repository": name}
                if table is ApprovalRow:
                    values["repository_key"] = key
                session.execute(
                    sa.update(table)
                    .where(table.repository_id == number, table.repository != name)
                    .values(**values)
                )
            moved = tuple(old for old in older if old not in others)
            for old in moved:
                _move_learnt(session, old, name)
                _move(session, (scope_of(old), CURSOR), (scope_of(key), CURSOR))
            for old in older:
                _move(session, (scope, f"{GOOD}{old}"), (scope, f"{GOOD}{key}"))
            value = {"name": name, "at": at, "older": sorted({*known["older"], *older})}
            session.merge(SettingRow(scope=scope, key=NAME, value=value, by="", changed_at=at))
        for old in moved:
            move_harvest(self._data_dir, old, key)
        return moved


def _known(row: SettingRow | None, name: str, at: float, before: str) -> bool:
    """Whether all of it is noted already, or is news of before what is."""
    if row is None:
        return False
    same = row.value["name"] == name and before.lower() in ("", *row.value["older"])
    return same or at < row.value["at"]


def _move_learnt(session: Session, old: str, name: str) -> None:
    """What was learnt under an older name; what the new one has already is not there twice."""
    there = sa.select(LearntRemark.key).where(LearntRemark.repository_key == name.lower())
    of_old = LearntRemark.repository_key == old
    session.execute(sa.delete(LearntRemark).where(of_old, LearntRemark.key.in_(there)))
    session.execute(
        sa.update(LearntRemark).where(of_old).values(repository=name, repository_key=name.lower())
    )


def _move(session: Session, old: tuple[str, str], new: tuple[str, str]) -> None:
    """A setting under another name; the one that is there stays."""
    row = session.get(SettingRow, old)
    if row is None:
        return
    if session.get(SettingRow, new) is None:
        session.add(
            SettingRow(
                scope=new[0], key=new[1], value=row.value, by=row.by, changed_at=row.changed_at
            )
        )
    session.delete(row)
