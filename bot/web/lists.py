"""What the pages show of the ledger, read in few statements; texts and diffs only where shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.orm import load_only

from bot.feedback.calibration import origin_of, rule_of
from bot.feedback.measures import wilson
from bot.feedback.outcome import ACCEPTED, State
from bot.feedback.tables import OutcomeRow
from bot.store.database import Database
from bot.store.diffs import unpack
from bot.store.tables import (
    CandidateRow,
    CommentRow,
    Delivery,
    DeliveryState,
    Job,
    ReviewDiff,
    ReviewRow,
)
from models.change import ChangedFile

PAGE = 30
MOST_CANDIDATES = 200
"""So many candidates of one review are shown, the best first."""
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Listed:
    """A review in the list: what it is about, and how many candidates it had and posted."""

    id: int
    repository: str
    pull: int
    head: str
    state: str
    created_at: float
    candidates: int
    posted: int


def reviews(
    database: Database,
    repositories: Collection[int],
    before: int | None = None,
    pull: int | None = None,
) -> list[Listed]:
    """The newest reviews of these repositories, up to one more than ``PAGE``.

    ``before`` is the number of the last review of the page above.
    """
    # numbers first, from the index alone: a review's row is long, and only this page's are read
    page = sa.select(ReviewRow.id).where(ReviewRow.repository_id.in_(repositories))
    if before is not None:
        page = page.where(ReviewRow.id < before)
    if pull is not None:
        page = page.where(ReviewRow.pull == pull)
    page = page.order_by(ReviewRow.id.desc()).limit(PAGE + 1)
    query = sa.select(
        ReviewRow.id,
        ReviewRow.repository,
        ReviewRow.pull,
        ReviewRow.head,
        ReviewRow.state,
        ReviewRow.created_at,
    ).where(ReviewRow.id.in_(page))
    with database.read() as session:
        rows = session.execute(query.order_by(ReviewRow.id.desc())).all()
        counted = session.execute(
            sa.select(
                CandidateRow.review_id,
                sa.func.count(),
                sa.func.sum(sa.case((CandidateRow.reason == "posted", 1), else_=0)),
            )
            .where(CandidateRow.review_id.in_([row.id for row in rows]))
            .group_by(CandidateRow.review_id)
        )
        counts = {number: (total, posted) for number, total, posted in counted}
    return [Listed(*row, *counts.get(row.id, (0, 0))) for row in rows]


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """One review with everything that its page shows."""

    review: ReviewRow
    candidates: tuple[CandidateRow, ...]
    total: int
    comments: tuple[CommentRow, ...]
    outcomes: dict[int, OutcomeRow]
    files: tuple[ChangedFile, ...]


def review(database: Database, number: int) -> ReviewPage | None:
    """One review by its number in the ledger."""
    with database.read() as session:
        row = session.get(ReviewRow, number)
        if row is None:
            return None
        of_it = CandidateRow.review_id == number
        total = session.execute(sa.select(sa.func.count(CandidateRow.id)).where(of_it))
        candidates = session.execute(
            sa.select(CandidateRow).where(of_it).order_by(CandidateRow.rank).limit(MOST_CANDIDATES)
        ).scalars()
        comments = tuple(
            session.execute(
                sa.select(CommentRow)
                .where(CommentRow.review_id == number)
                .order_by(CommentRow.position)
            ).scalars()
        )
        outcomes = session.execute(
            sa.select(OutcomeRow).where(OutcomeRow.comment_id.in_([c.id for c in comments]))
        ).scalars()
        diff = session.get(ReviewDiff, number)
        return ReviewPage(
            row,
            tuple(candidates),
            total.scalar_one(),
            comments,
            {one.comment_id: one for one in outcomes},
            () if diff is None else unpack(diff.files),
        )


def repository_of_review(database: Database, number: int) -> int | None:
    """Whose a review is; looked at before anything else of it."""
    with database.read() as session:
        return session.execute(
            sa.select(ReviewRow.repository_id).where(ReviewRow.id == number)
        ).scalar_one_or_none()


def jobs(
    database: Database, repositories: Collection[int], state: str = "", limit: int = 50
) -> list[Job]:
    """The newest jobs of these repositories, of one state where it is given."""
    query = sa.select(Job).where(Job.repository_id.in_(repositories))
    if state:
        query = query.where(Job.state == state)
    with database.read() as session:
        ordered = query.order_by(Job.created_at.desc()).limit(limit)
        return list(session.execute(ordered).scalars())


def job_counts(database: Database, repositories: Collection[int]) -> dict[str, int]:
    """How many jobs of these repositories are in each state."""
    query = (
        sa.select(Job.state, sa.func.count())
        .where(Job.repository_id.in_(repositories))
        .group_by(Job.state)
    )
    with database.read() as session:
        return {row[0]: row[1] for row in session.execute(query)}


def parked_deliveries(database: Database, repositories: Collection[int]) -> list[Delivery]:
    """The newest deliveries about these repositories that were given up or failed."""
    query = (
        sa.select(Delivery)
        .options(
            load_only(
                Delivery.id,
                Delivery.event,
                Delivery.action,
                Delivery.repository,
                Delivery.repository_id,
                Delivery.pull,
                Delivery.state,
                Delivery.reason,
                Delivery.received_at,
            )
        )
        .where(
            Delivery.state.in_((DeliveryState.PARKED, DeliveryState.FAILED)),
            Delivery.repository_id.in_(repositories),
        )
        .order_by(Delivery.id.desc())
        .limit(20)
    )
    with database.read() as session:
        return list(session.execute(query).scalars())


@dataclass(frozen=True, slots=True)
class Share:
    """Of ``total`` comments whose end is known, ``accepted`` were; 90 % interval (Wilson)."""

    name: str
    total: int
    accepted: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share accepted."""
        return self.accepted / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A repository's comments by what became of them, and the shares accepted by three keys."""

    states: dict[str, int]
    open: int
    by_origin: tuple[Share, ...]
    by_rule: tuple[Share, ...]
    by_month: tuple[Share, ...]

    @property
    def total(self) -> int:
        """Comments whose end says something: neither open nor outdated."""
        return sum(share.total for share in self.by_origin)


def acceptance(database: Database, repository_id: int) -> Acceptance:
    """Counted in the database, not row by row: the page needs no list of comments."""
    day = sa.cast(OutcomeRow.posted_at, sa.BigInteger) // DAY
    of_it = OutcomeRow.repository_id == repository_id
    with database.read() as session:
        by_origin = session.execute(
            sa.select(OutcomeRow.origin, OutcomeRow.state, OutcomeRow.final, sa.func.count())
            .where(of_it)
            .group_by(OutcomeRow.origin, OutcomeRow.state, OutcomeRow.final)
        ).all()
        by_day = session.execute(
            sa.select(day, OutcomeRow.state, sa.func.count())
            .where(of_it, OutcomeRow.final.is_(True))
            .group_by(day, OutcomeRow.state)
        ).all()
    states: dict[str, int] = {}
    still_open = 0
    ended: list[tuple[str, str, int]] = []
    for origin, state, final, number in by_origin:
        if not final:
            still_open += number
            continue
        states[state] = states.get(state, 0) + number
        ended.append((origin, state, number))
    months = [(_month(int(at) * DAY), state, number) for at, state, number in by_day]
    return Acceptance(
        states,
        still_open,
        _shares([(origin_of(origin), state, number) for origin, state, number in ended]),
        _shares([(rule_of(origin), state, number) for origin, state, number in ended]),
        tuple(sorted(_shares(months), key=lambda share: share.name)),
    )


def repositories_with_outcomes(
    database: Database, repositories: Collection[int]
) -> dict[int, Share]:
    """Each repository's share accepted over everything that ended."""
    query = (
        sa.select(OutcomeRow.repository_id, OutcomeRow.state, sa.func.count())
        .where(OutcomeRow.repository_id.in_(repositories), OutcomeRow.final.is_(True))
        .group_by(OutcomeRow.repository_id, OutcomeRow.state)
    )
    with database.read() as session:
        rows = session.execute(query).all()
    made = _shares([(str(number), state, total) for number, state, total in rows])
    return {int(share.name): share for share in made}


def _shares(rows: Sequence[tuple[str, str, int]]) -> tuple[Share, ...]:
    """The shares by name, the most counted first; outdated comments say nothing."""
    counts: dict[str, list[int]] = {}
    for name, state, number in rows:
        if state == State.OUTDATED:
            continue
        pair = counts.setdefault(name, [0, 0])
        pair[0] += number
        pair[1] += number if State(state) in ACCEPTED else 0
    made = [
        Share(name, total, accepted, *wilson(accepted, total))
        for name, (total, accepted) in counts.items()
    ]
    return tuple(sorted(made, key=lambda share: (-share.total, share.name)))


def _month(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m")
