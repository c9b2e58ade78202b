"""Feedback in the ledger: events are kept, states follow from them, the calibration from states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.calibration import AcceptanceModel, Observed
from bot.feedback.outcome import ACCEPTED, Event, Kind, Outcome, State, decide
from bot.feedback.region import Fate, Followed
from bot.feedback.tables import AnchorRow, FeedbackEvent, OutcomeRow
from bot.jobs.forge import PullRef
from bot.learn.store import Learnt
from bot.review.worth import Calibration, sureness
from bot.store.database import Database
from bot.store.memory import Memory, repo_scope
from bot.store.tables import CandidateRow, CommentRow, Job, ReviewRow
from models.change import Side
from models.review_types import Candidate, CandidateKind, Score, Severity
from models.syntax import language_of

MODEL_KEY = "acceptance"
"""The name under which a repository's calibration is kept among its settings."""
UNKNOWN = "unknown"
"""The origin of a comment whose candidate was forgotten before anything was seen of it."""


class Feedback:
    """The ledger's feedback. Every write is idempotent: the same events again change nothing."""

    def __init__(self, database: Database, calibration: Calibration | None = None) -> None:
        """``calibration`` is that of the model's card: a revision's prior comes from it."""
        self._db = database
        self._memory = Memory(database)
        self._calibration = calibration or Calibration()

    def add(self, comment_id: int, events: Iterable[Event], now: float) -> Outcome | None:
        """Keep what was seen of a comment (its row's number) and decide its state anew.

        ``None`` where there is no such comment in the ledger.
        """
        with self._db.write() as session:
            self._db.lock(session, f"feedback:{comment_id}")
            comment = session.get(CommentRow, comment_id)
            if comment is None:
                return None
            known = self._events(session, comment_id)
            places = {_place(event) for event in known}
            for event in events:
                if _place(event) not in places:
                    session.add(_row(comment_id, event))
                    known.add(event)
                    places.add(_place(event))
            outcome = decide(known)
            closed = max((e.at for e in known if e.kind is Kind.CLOSED and e.on), default=now)
            self._keep(session, comment, outcome, closed if outcome.final else None, now)
            return outcome

    def add_to_pull(
        self, repository_id: int, pull: int, events: Sequence[Event], now: float
    ) -> int:
        """Keep what concerns every posted comment of a pull request: that it was closed, say.

        The number of comments is returned.
        """
        comments = self.tracked(repository_id, pull)
        for comment in comments:
            self.add(comment.id, events, now)
        return len(comments)

    def add_once(self, comment_id: int, event: Event, now: float) -> Outcome | None:
        """Keep an event unless one of its kind and key is there, whenever that one happened.

        For what has a name but no time of its own: a command, told twice, counts from the first.
        """
        same = (event.kind, event.key, event.on)
        known = any((one.kind, one.key, one.on) == same for one in self.events(comment_id))
        return self.add(comment_id, [] if known else [event], now)

    def comment(self, github_id: int) -> CommentRow | None:
        """One of our comments by its number on the forge."""
        return self._memory.comment(github_id)

    def tracked(self, repository_id: int, pull: int) -> list[CommentRow]:
        """The comments of a pull request that stand on the forge or were decided in the queue."""
        with self._db.read() as session:
            query = (
                sa.select(CommentRow)
                .join(ReviewRow, ReviewRow.id == CommentRow.review_id)
                .outerjoin(OutcomeRow, OutcomeRow.comment_id == CommentRow.id)
                .where(
                    ReviewRow.repository_id == repository_id,
                    ReviewRow.pull == pull,
                    sa.or_(CommentRow.github_id.is_not(None), OutcomeRow.comment_id.is_not(None)),
                )
                .order_by(CommentRow.id)
            )
            return list(session.execute(query).scalars())

    def unfinished_pulls(self, since: float) -> list[PullRef]:
        """Pull requests with comments posted from ``since`` on whose end is not known."""
        query = (
            sa.select(
                ReviewRow.repository_id, ReviewRow.repository, ReviewRow.pull, Job.installation_id
            )
            .join(CommentRow, CommentRow.review_id == ReviewRow.id)
            .join(Job, Job.id == ReviewRow.job_id)
            .outerjoin(OutcomeRow, OutcomeRow.comment_id == CommentRow.id)
            .where(
                ReviewRow.submitted_at >= since,
                CommentRow.github_id.is_not(None),
                sa.or_(OutcomeRow.comment_id.is_(None), OutcomeRow.final.is_(False)),
            )
            .distinct()
        )
        with self._db.read() as session:
            return [PullRef(number, name, pull, installation)
                    for number, name, pull, installation in session.execute(query)]  # fmt: skip

    @staticmethod
    def ended_before(session: Session, before: float) -> list[int]:
        """Comments whose state has been final since before that time, and whose lines are kept."""
        query = (
            sa.select(AnchorRow.comment_id)
            .join(OutcomeRow, OutcomeRow.comment_id == AnchorRow.comment_id)
            .where(OutcomeRow.final.is_(True), OutcomeRow.ended_at < before)
        )
        return list(session.execute(query).scalars())

    def events(self, comment_id: int) -> set[Event]:
        """All that was seen of a comment."""
        with self._db.read() as session:
            return self._events(session, comment_id)

    def outcome(self, comment_id: int) -> OutcomeRow | None:
        """A comment's state; ``None`` where nothing was seen of it yet."""
        with self._db.read() as session:
            return session.get(OutcomeRow, comment_id)

    def outcomes(
        self, repository_id: int | None = None, since: float = 0.0, until: float | None = None
    ) -> list[OutcomeRow]:
        """Comments posted from ``since`` and before ``until``, the oldest first."""
        query = sa.select(OutcomeRow).where(OutcomeRow.posted_at >= since)
        if until is not None:
            query = query.where(OutcomeRow.posted_at < until)
        if repository_id is not None:
            query = query.where(OutcomeRow.repository_id == repository_id)
        with self._db.read() as session:
            ordered = query.order_by(OutcomeRow.posted_at, OutcomeRow.comment_id)
            return list(session.execute(ordered).scalars())

    def repository(self, name: str) -> int | None:
        """The number of a repository (``owner/name``, as last seen) with outcomes."""
        with self._db.read() as session:
            query = (
                sa.select(OutcomeRow.repository_id)
                .where(sa.func.lower(OutcomeRow.repository) == name.lower())
                .order_by(OutcomeRow.posted_at.desc())
                .limit(1)
            )
            return session.execute(query).scalar_one_or_none()

    def learn(
        self,
        repository_id: int,
        now: float,
        installation_id: int | None = None,
        repository: str = "",
    ) -> AcceptanceModel:
        """Learn a repository's calibration from its own and its installation's final states.

        The result is kept among the repository's settings, from which ``model`` reads it.
        """
        own = self.outcomes(repository_id)
        installation = own[-1].installation_id if own else installation_id
        others = self._pooled(
            repository_id, installation, own[-1].repository if own else repository
        )
        model = AcceptanceModel.shipped().learn(observed(own), others)
        self._memory.put(repo_scope(repository_id), MODEL_KEY, model.to_json(), now)
        return model

    def model(
        self, repository_id: int, installation_id: int | None = None, repository: str = ""
    ) -> AcceptanceModel:
        """The calibration as last learnt.

        Where there is none: what the installation's other repositories answered, and what became
        of people's own remarks in the history of ``repository`` (``marginalia learn``); without
        any the shipped prior. A state of another version counts as none: it is made again by the
        next ``learn``.
        """
        state = self._memory.get(repo_scope(repository_id), MODEL_KEY)
        if isinstance(state, dict):
            try:
                return AcceptanceModel.from_json(state)
            except ValueError:
                pass  # of another version
        others = self._pooled(repository_id, installation_id, repository)
        return AcceptanceModel.shipped().learn([], others) if others else AcceptanceModel.shipped()

    def forget(self, repository_id: int) -> int:
        """Delete all that was seen and learnt of a repository; the number of comments."""
        ids = sa.select(OutcomeRow.comment_id).where(OutcomeRow.repository_id == repository_id)
        with self._db.write() as session:
            found = list(session.execute(ids).scalars())
            session.execute(sa.delete(FeedbackEvent).where(FeedbackEvent.comment_id.in_(ids)))
            session.execute(sa.delete(OutcomeRow).where(OutcomeRow.repository_id == repository_id))
        self._memory.forget(repo_scope(repository_id), MODEL_KEY)
        return len(found)

    def held_back(
        self, repository_id: int | None, since: float, until: float
    ) -> list[tuple[Candidate, Score, float]]:
        """Candidates that were not sure enough in that time, each with its score and prior."""
        # reviews first: there are few of that time, and candidates of all times by the thousand
        reviews = sa.select(ReviewRow.id).where(
            ReviewRow.created_at >= since, ReviewRow.created_at < until
        )
        if repository_id is not None:
            reviews = reviews.where(ReviewRow.repository_id == repository_id)
        made = []
        with self._db.read() as session:
            ids = list(session.execute(reviews.order_by(ReviewRow.id)).scalars())
            for start in range(0, len(ids), 500):
                query = sa.select(CandidateRow).where(
                    CandidateRow.review_id.in_(ids[start : start + 500]),
                    # coalesced, so that no planner begins with the index of reasons instead
                    sa.func.coalesce(CandidateRow.reason, "") == "not-confident",
                )
                rows = session.execute(query.order_by(CandidateRow.id)).scalars()
                made += [self._judged(row) for row in rows]
        return made

    def _pooled(
        self, repository_id: int, installation_id: int | None, repository: str
    ) -> list[Observed]:
        """What is known beside the repository's own outcomes: its neighbours', its history."""
        found = observed(self._of_installation(installation_id, repository_id))
        return found + (Learnt(self._db).observed(repository) if repository else [])

    def _of_installation(self, installation: int | None, but: int) -> list[OutcomeRow]:
        if installation is None:
            return []
        query = sa.select(OutcomeRow).where(
            OutcomeRow.installation_id == installation,
            OutcomeRow.repository_id != but,
            OutcomeRow.final.is_(True),
        )
        with self._db.read() as session:
            return list(session.execute(query).scalars())

    @staticmethod
    def _events(session: Session, comment_id: int) -> set[Event]:
        query = sa.select(FeedbackEvent).where(FeedbackEvent.comment_id == comment_id)
        return {_event(row) for row in session.execute(query).scalars()}

    def _keep(
        self,
        session: Session,
        comment: CommentRow,
        outcome: Outcome,
        ended_at: float | None,
        now: float,
    ) -> None:
        row = session.get(OutcomeRow, comment.id)
        if row is None:
            row = self._new(session, comment)
            session.add(row)
        elif (row.state, row.final, row.edit_progress, row.ended_at) == (
            outcome.state.value,
            outcome.final,
            outcome.edit_progress,
            ended_at,
        ):
            return
        row.state, row.final = outcome.state.value, outcome.final
        row.edit_progress, row.ended_at = outcome.edit_progress, ended_at
        row.changed_at = now

    def _new(self, session: Session, comment: CommentRow) -> OutcomeRow:
        review = session.get_one(ReviewRow, comment.review_id)
        job = session.get(Job, review.job_id)
        found = session.get(CandidateRow, comment.candidate_id) if comment.candidate_id else None
        origin, kind, prior, rel, confidence = UNKNOWN, "", 0.5, 0.5, 1.0
        if found is not None:
            candidate, score, prior = self._judged(found)
            origin, kind = candidate.origin, candidate.kind.value
            rel, confidence = score.rel, candidate.confidence
        return OutcomeRow(
            comment_id=comment.id,
            repository_id=review.repository_id,
            repository=review.repository,
            installation_id=None if job is None else job.installation_id,
            pull=review.pull,
            origin=origin,
            kind=kind,
            language=language_of(comment.path) or "other",
            prior=prior,
            rel=rel,
            confidence=confidence,
            posted_at=review.submitted_at or review.created_at,
        )

    def _judged(self, row: CandidateRow) -> tuple[Candidate, Score, float]:
        candidate = Candidate(
            kind=CandidateKind(row.kind),
            origin=row.origin,
            path=row.path,
            side=Side(row.side),
            start_line=row.start_line,
            line=row.line,
            text=row.text,
            confidence=row.confidence,
            weakest=row.weakest,
            severity=Severity(row.severity),
        )
        score = Score(row.con, row.comp, row.rel, row.signature, row.judge)
        return candidate, score, sureness(candidate, score, self._calibration)


def observed(rows: Iterable[OutcomeRow]) -> list[Observed]:
    """What the calibration learns from: final states that tell what a person thought.

    Accepted in one of the three ways counts as yes; dismissed, and open to the end (nobody cared
    to answer), as no. An outdated comment says nothing about itself and is left out.
    """
    made = []
    for row in rows:
        state = State(row.state)
        if not row.final or state is State.OUTDATED or row.origin == UNKNOWN:
            continue
        made.append(
            Observed(
                key=str(row.comment_id),
                at=row.ended_at or row.changed_at,
                origin=row.origin,
                prior=row.prior,
                accepted=state in ACCEPTED,
                rel=row.rel,
                confidence=row.confidence,
                repository_id=row.repository_id,
            )
        )
    return made


def _place(event: Event) -> tuple[object, ...]:
    return (event.kind, event.at, event.key, event.on, event.by_person)


def _row(comment_id: int, event: Event) -> FeedbackEvent:
    return FeedbackEvent(
        comment_id=comment_id,
        kind=event.kind.value,
        at=event.at,
        key=event.key,
        holds=event.on,
        by_person=event.by_person,
        followed=None if event.followed is None else asdict(event.followed),
    )


def _event(row: FeedbackEvent) -> Event:
    followed = None
    if row.followed is not None:
        values = {**row.followed, "fate": Fate(row.followed["fate"])}
        followed = Followed(**values)
    return Event(Kind(row.kind), row.at, row.key, row.holds, row.by_person, followed)
