"""What people said and what the service must remember between jobs.

Settings by name (``scope`` is ``repo:<id>``, ``pull:<id>:<number>``, ``app``), dismissed remarks,
threads and comments as people left them, installations.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.tables import (
    CommentRow,
    Dismissal,
    Installation,
    InstalledRepository,
    ReviewRow,
    SettingRow,
    ThreadRow,
)


def pull_scope(repository_id: int, pull: int) -> str:
    """The scope of settings that hold for one pull request."""
    return f"pull:{repository_id}:{pull}"


def repo_scope(repository_id: int) -> str:
    """The scope of settings that hold for one repository."""
    return f"repo:{repository_id}"


class Memory:
    """The ledger's settings, dismissals, threads, comments' fates and installations."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # settings

    def get(self, scope: str, key: str, default: Any = None) -> Any:
        """A value kept by name (any JSON value)."""
        with self._db.read() as session:
            row = session.get(SettingRow, (scope, key))
            return default if row is None else row.value

    def put(self, scope: str, key: str, value: Any, now: float, by: str = "") -> None:
        """Keep a value by name; ``by`` is the login of who set it."""
        with self._db.write() as session:
            self._db.lock(session, f"setting:{scope}:{key}")
            session.merge(SettingRow(scope=scope, key=key, value=value, by=by, changed_at=now))

    def put_once(self, scope: str, key: str, value: Any, now: float) -> bool:
        """Keep a value unless there is one; whether this call did: a latch for "only once"."""
        with self._db.write() as session:
            self._db.lock(session, f"setting:{scope}:{key}")
            if session.get(SettingRow, (scope, key)) is not None:
                return False
            session.add(SettingRow(scope=scope, key=key, value=value, by="", changed_at=now))
            return True

    def forget(self, scope: str, key: str) -> None:
        """Drop a value."""
        with self._db.write() as session:
            session.execute(
                sa.delete(SettingRow).where(SettingRow.scope == scope, SettingRow.key == key)
            )

    # remarks that people do not want

    def dismiss(self, repository_id: int, pull: int, fingerprint: str, by: str, now: float) -> None:
        """Never post this remark in this repository again."""
        with self._db.write() as session:
            self._db.lock(session, f"dismiss:{repository_id}:{fingerprint}")
            session.merge(
                Dismissal(
                    repository_id=repository_id, fingerprint=fingerprint, pull=pull, by=by, at=now
                )
            )

    def undismiss(self, repository_id: int, fingerprint: str) -> None:
        """Take a dismissal back."""
        with self._db.write() as session:
            session.execute(
                sa.delete(Dismissal).where(
                    Dismissal.repository_id == repository_id, Dismissal.fingerprint == fingerprint
                )
            )

    # threads and comments

    def comment(self, github_id: int) -> CommentRow | None:
        """One of our comments by its number on the forge."""
        with self._db.read() as session:
            return session.execute(
                sa.select(CommentRow).where(CommentRow.github_id == github_id)
            ).scalar_one_or_none()

    def comments_of_pull(self, repository_id: int, pull: int) -> list[CommentRow]:
        """Our comments on a pull request that stand on the forge, oldest first."""
        with self._db.read() as session:
            query = (
                sa.select(CommentRow)
                .join(ReviewRow, ReviewRow.id == CommentRow.review_id)
                .where(
                    ReviewRow.repository_id == repository_id,
                    ReviewRow.pull == pull,
                    CommentRow.github_id.is_not(None),
                )
                .order_by(CommentRow.id)
            )
            return list(session.execute(query).scalars())

    def set_comment_state(self, github_id: int, state: str, now: float) -> bool:
        """Note that a comment of ours was edited or deleted; false where it is not ours."""
        with self._db.write() as session:
            row = session.execute(
                sa.select(CommentRow).where(CommentRow.github_id == github_id).with_for_update()
            ).scalar_one_or_none()
            if row is None:
                return False
            if (row.changed_at or 0) <= now:
                row.state = state
                row.changed_at = now
            return True

    def set_thread(
        self,
        thread_id: str,
        repository_id: int,
        pull: int,
        comment_github_id: int | None,
        resolved: bool,
        by: str,
        now: float,
    ) -> bool:
        """Note a thread's state unless a later one is known; false where it is not ours."""
        with self._db.write() as session:
            self._db.lock(session, f"thread:{thread_id}")
            comment = session.execute(
                sa.select(CommentRow).where(CommentRow.github_id == comment_github_id)
            ).scalar_one_or_none()
            if comment is None:
                return False
            known = session.get(ThreadRow, thread_id)
            if known is not None and known.changed_at > now:
                return True
            session.merge(
                ThreadRow(
                    id=thread_id,
                    repository_id=repository_id,
                    pull=pull,
                    comment_github_id=comment_github_id,
                    fingerprint=comment.fingerprint,
                    resolved=resolved,
                    by=by,
                    changed_at=now,
                )
            )
            return True

    def threads(self, repository_id: int, pull: int) -> list[ThreadRow]:
        """The known threads of a pull request."""
        with self._db.read() as session:
            query = sa.select(ThreadRow).where(
                ThreadRow.repository_id == repository_id, ThreadRow.pull == pull
            )
            return list(session.execute(query).scalars())

    # installations

    def set_installation(
        self,
        installation_id: int,
        account: str,
        state: str,
        selection: str,
        permissions: dict[str, Any],
        now: float,
    ) -> None:
        """Note who installed the App, and whether it is active, suspended or removed."""
        with self._db.write() as session:
            self._db.lock(session, f"installation:{installation_id}")
            session.merge(
                Installation(
                    id=installation_id,
                    account=account,
                    state=state,
                    selection=selection,
                    permissions=permissions,
                    changed_at=now,
                )
            )

    def installation_state(self, installation_id: int) -> str:
        """``active`` (also where nothing is known), ``suspended`` or ``removed``."""
        with self._db.read() as session:
            row = session.get(Installation, installation_id)
            return "active" if row is None else row.state

    def change_repositories(
        self,
        installation_id: int,
        added: dict[int, str],
        removed: tuple[int, ...],
    ) -> None:
        """Note which repositories an installation may see; ``added`` maps number to name."""
        with self._db.write() as session:
            self._db.lock(session, f"installation:{installation_id}")
            for number, name in sorted(added.items()):
                session.merge(
                    InstalledRepository(
                        installation_id=installation_id, repository_id=number, repository=name
                    )
                )
            if removed:
                session.execute(
                    sa.delete(InstalledRepository).where(
                        InstalledRepository.installation_id == installation_id,
                        InstalledRepository.repository_id.in_(removed),
                    )
                )

    def repositories(self, installation_id: int) -> dict[int, str]:
        """Number and name of the repositories that an installation may see, as far as known."""
        with self._db.read() as session:
            rows = session.execute(
                sa.select(InstalledRepository).where(
                    InstalledRepository.installation_id == installation_id
                )
            ).scalars()
            return {row.repository_id: row.repository for row in rows}
