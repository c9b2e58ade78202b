"""Looking into a ledger that is there already, for the command line: nothing is made or changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from bot.errors import FatalError
from bot.jobs.forge import PullRef
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.store.memory import Memory
from bot.store.reviews import Explanation
from bot.store.tables import CandidateRow, CommentRow, Request, ReviewRow

SHORTEST_PREFIX = 6
"""So many first digits of a fingerprint name it, where no other begins with them."""


@contextmanager
def existing_ledger(settings: Settings) -> Iterator[Ledger | None]:
    """The settings' ledger, or ``None`` where its SQLite file is not there.

    Raises:
        FatalError: the database cannot be read, or its tables are not this version's.
    """
    url = sa.make_url(settings.database)
    where = url.render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        yield None
        return
    ledger = Ledger(settings.database, pool_size=1)
    try:
        if not ledger.database.is_current():
            raise FatalError(
                f"{where}: its tables are not those of this version: start marginalia serve (or "
                "worker) once to bring them up"
            )
        yield ledger
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise FatalError(f"{where}: cannot be read: {reason}") from error
    finally:
        ledger.close()


def no_ledger(settings: Settings) -> FatalError:
    """What a command says that needs one, where ``existing_ledger`` gave none."""
    return FatalError(
        f"there is no ledger in {settings.database_url or settings.data_dir}: name its folder by "
        "--data-dir, or start marginalia serve"
    )


class ReadOnlyMemory:
    """The ledger's settings by name (``bot.github.policy.Memory``): what is put stays in here."""

    def __init__(self, under: Memory | None) -> None:
        self._under = under
        self._own: dict[tuple[str, str], Any] = {}
        self._gone: set[tuple[str, str]] = set()

    def get(self, scope: str, key: str, default: Any = None) -> Any:
        """A value kept by name: this run's, else the ledger's."""
        if (scope, key) in self._gone:
            return default
        if (scope, key) in self._own:
            return self._own[scope, key]
        return default if self._under is None else self._under.get(scope, key, default)

    def put(self, scope: str, key: str, value: Any, now: float, by: str = "") -> None:
        """Keep a value for this run."""
        self._gone.discard((scope, key))
        self._own[scope, key] = value

    def forget(self, scope: str, key: str) -> None:
        """Drop a value for this run."""
        self._gone.add((scope, key))


def next_request_number(ledger: Ledger, ref: PullRef) -> int:
    """The number that the next request with a key of its own would get."""
    with ledger.database.read() as session:
        query = sa.select(sa.func.max(Request.number)).where(
            Request.repository_id == ref.repository_id, Request.pull == ref.number
        )
        return (session.execute(query).scalar() or 0) + 1


def explain_github_id(ledger: Ledger, github_id: int, single: bool) -> Explanation | None:
    """Everything behind a review by its number on GitHub.

    ``single`` looks among those posted as a comment in the conversation instead, which have
    numbers of their own.
    """
    with ledger.database.read() as session:
        query = sa.select(ReviewRow).where(
            ReviewRow.github_id == github_id, ReviewRow.single == single
        )
        return _of(session, session.execute(query.limit(1)).scalar_one_or_none())


def explain_last(ledger: Ledger, repository: str, pull: int) -> Explanation | None:
    """Everything behind the newest review of a pull request, posted or not."""
    with ledger.database.read() as session:
        query = (
            sa.select(ReviewRow)
            .where(sa.func.lower(ReviewRow.repository) == repository.lower())
            .where(ReviewRow.pull == pull)
            .order_by(ReviewRow.id.desc())
            .limit(1)
        )
        return _of(session, session.execute(query).scalar_one_or_none())


def explain_fingerprint(ledger: Ledger, fingerprint: str) -> tuple[str, ...] | Explanation:
    """The newest candidate with this fingerprint, or with the only one that begins so.

    Otherwise the fingerprints that begin so: none, or several (at most ten are named).
    """
    with ledger.database.read() as session:
        matches = CandidateRow.fingerprint == fingerprint
        if len(fingerprint) >= SHORTEST_PREFIX:
            matches |= CandidateRow.fingerprint.startswith(fingerprint, autoescape=True)
        found = session.execute(
            sa.select(CandidateRow.fingerprint).where(matches).distinct().limit(10)
        ).scalars()
        names = tuple(sorted(name for name in found if name))
        name = fingerprint if fingerprint in names else names[0] if len(names) == 1 else ""
        if not name:
            return names
        candidate = session.execute(
            sa.select(CandidateRow)
            .where(CandidateRow.fingerprint == name)
            .order_by(CandidateRow.review_id.desc(), CandidateRow.rank)
            .limit(1)
        ).scalar_one()
        review = session.get_one(ReviewRow, candidate.review_id)
        comment = session.execute(
            sa.select(CommentRow)
            .where(CommentRow.review_id == review.id, CommentRow.fingerprint == name)
            .limit(1)
        ).scalar_one_or_none()
        return _explanation(session, review, comment, candidate)


def _of(session: Session, review: ReviewRow | None) -> Explanation | None:
    return None if review is None else _explanation(session, review)


def _explanation(
    session: Session,
    review: ReviewRow,
    comment: CommentRow | None = None,
    candidate: CandidateRow | None = None,
) -> Explanation:
    candidates = session.execute(
        sa.select(CandidateRow)
        .where(CandidateRow.review_id == review.id)
        .order_by(CandidateRow.rank)
    ).scalars()
    comments = session.execute(
        sa.select(CommentRow).where(CommentRow.review_id == review.id).order_by(CommentRow.position)
    ).scalars()
    return Explanation(review, tuple(candidates), tuple(comments), comment, candidate)
