"""Reviews, their candidates and comments: written before anything is posted, never dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.jobs.forge import (
    DraftComment,
    DraftReview,
    PostedComment,
    PostedReview,
    RequestKind,
    Reviewed,
)
from bot.review.types import JudgedCandidate, ReviewResult
from bot.store.database import Database
from bot.store.diffs import pack
from bot.store.tables import (
    CandidateRow,
    CommentRow,
    Dismissal,
    Job,
    ReviewDiff,
    ReviewRow,
    ReviewRowState,
)
from models.change import Side

FINISHED = (
    ReviewRowState.SUBMITTED,
    ReviewRowState.EMPTY,
    ReviewRowState.SHADOW,
    ReviewRowState.WAITING,
)
Also = Callable[[Session, ReviewRow, Sequence[CommentRow]], None]
"""Writes what belongs to a draft beside it, in its transaction: told the review and comments."""


def _of_approvals(repository_id: int, pull: int) -> sa.Select[str]:
    """The jobs that post accepted remarks: a review each, but nothing was read for it."""
    return sa.select(Job.id).where(
        Job.repository_id == repository_id,
        Job.pull == pull,
        Job.kind == RequestKind.APPROVAL.value,
    )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything the ledger knows of one posted comment or review."""

    review: ReviewRow
    candidates: tuple[CandidateRow, ...]
    comments: tuple[CommentRow, ...]
    comment: CommentRow | None = None
    candidate: CandidateRow | None = None


class Reviews:
    """The ledger's reviews."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def save_draft(
        self,
        job: Job,
        result: ReviewResult,
        draft: DraftReview | None,
        marker: str,
        notes: tuple[str, ...],
        state: ReviewRowState,
        now: float,
        also: Also | None = None,
    ) -> int:
        """Write a result with all its candidates; a job's earlier draft is replaced."""
        with self._db.write() as session:
            self._forget(session, job.id)
            review = ReviewRow(
                job_id=job.id,
                repository_id=job.repository_id,
                repository=job.repository,
                pull=job.pull,
                merge_base=job.merge_base,
                head=job.head,
                state=state.value,
                body=draft.body if draft else "",
                marker=marker,
                summary=result.review.summary,
                signature=result.review.signature,
                coverage=[asdict(item) for item in result.coverage],
                notes=[*notes, *result.notes],
                timings=dict(result.timings),
                references=[asdict(item) for item in result.references],
                created_at=now,
            )
            session.add(review)
            session.flush()
            session.add(ReviewDiff(review_id=review.id, files=pack(result.change)))
            rows = [_candidate(review.id, judged) for judged in result.candidates]
            session.add_all(rows)
            session.flush()
            by_print = {row.fingerprint: row.id for row in reversed(rows) if row.fingerprint}
            comments = [
                comment_row(review.id, position, comment, by_print.get(comment.fingerprint))
                for position, comment in enumerate(draft.comments if draft else ())
            ]
            session.add_all(comments)
            session.flush()
            if also is not None:
                also(session, review, comments)
            return review.id

    @staticmethod
    def _forget(session: Session, job_id: str) -> None:
        old = session.execute(
            sa.select(ReviewRow.id).where(ReviewRow.job_id == job_id)
        ).scalar_one_or_none()
        if old is not None:
            session.execute(sa.delete(ReviewDiff).where(ReviewDiff.review_id == old))
            session.execute(sa.delete(CandidateRow).where(CandidateRow.review_id == old))
            session.execute(sa.delete(CommentRow).where(CommentRow.review_id == old))
            session.execute(sa.delete(ReviewRow).where(ReviewRow.id == old))

    def of_job(self, job_id: str) -> ReviewRow | None:
        """The review that a job made, if it came so far."""
        with self._db.read() as session:
            return session.execute(
                sa.select(ReviewRow).where(ReviewRow.job_id == job_id)
            ).scalar_one_or_none()

    def draft(self, review: ReviewRow) -> DraftReview:
        """The draft as it was composed."""
        with self._db.read() as session:
            rows = session.execute(
                sa.select(CommentRow)
                .where(CommentRow.review_id == review.id)
                .order_by(CommentRow.position)
            ).scalars()
            comments = tuple(
                DraftComment(
                    row.path, Side(row.side), row.line, row.body, row.fingerprint, row.start_line
                )
                for row in rows
            )
        return DraftReview(review.body, comments, review.marker)

    def set_posted(self, review_id: int, posted: PostedReview, now: float) -> None:
        """Note the review's number on the forge, and whether others can see it."""
        with self._db.write() as session:
            review = session.get_one(ReviewRow, review_id)
            review.github_id = posted.id
            review.single = posted.single
            review.url = posted.url or review.url
            review.state = ReviewRowState(posted.state.value).value
            if review.state == ReviewRowState.SUBMITTED and review.submitted_at is None:
                review.submitted_at = now
            if posted.moved:
                session.execute(
                    sa.update(CommentRow)
                    .where(
                        CommentRow.review_id == review_id,
                        CommentRow.fingerprint.in_(posted.moved),
                    )
                    .values(moved=True)
                )

    def set_draft_again(self, review_id: int) -> None:
        """The pending review is gone from the forge: what is left is the draft."""
        with self._db.write() as session:
            review = session.get_one(ReviewRow, review_id)
            review.github_id = None
            review.state = ReviewRowState.DRAFTED.value

    def set_comments(self, review_id: int, posted: tuple[PostedComment, ...]) -> None:
        """Note the comments' numbers on the forge, matched by fingerprint."""
        with self._db.write() as session:
            rows = session.execute(
                sa.select(CommentRow).where(CommentRow.review_id == review_id)
            ).scalars()
            by_print = {item.fingerprint: item for item in posted if item.fingerprint}
            for row in rows:
                found = by_print.get(row.fingerprint)
                if found is not None:
                    row.github_id = found.id
                    row.url = found.url

    def add_notes(self, review_id: int, notes: tuple[str, ...]) -> None:
        """Add one-line remarks to a review's notes, each once."""
        if not notes:
            return
        with self._db.write() as session:
            review = session.get_one(ReviewRow, review_id)
            review.notes = [*review.notes, *(note for note in notes if note not in review.notes)]

    def has_reviewed(
        self, repository_id: int, pull: int, merge_base: str, head: str, but_job: str = ""
    ) -> bool:
        """Whether this very patch got a review, by another job than ``but_job``."""
        with self._db.read() as session:
            query = sa.select(sa.func.count()).where(
                ReviewRow.repository_id == repository_id,
                ReviewRow.pull == pull,
                ReviewRow.merge_base == merge_base,
                ReviewRow.head == head,
                ReviewRow.job_id != but_job,
                ReviewRow.job_id.not_in(_of_approvals(repository_id, pull)),
                ReviewRow.state.in_(FINISHED),
            )
            return session.execute(query).scalar_one() > 0

    def known_fingerprints(self, repository_id: int, pull: int) -> frozenset[str]:
        """What was said on this pull request before (dry runs in shadow mode included)."""
        with self._db.read() as session:
            query = (
                sa.select(CommentRow.fingerprint)
                .join(ReviewRow, ReviewRow.id == CommentRow.review_id)
                .where(
                    ReviewRow.repository_id == repository_id,
                    ReviewRow.pull == pull,
                    ReviewRow.state.in_(FINISHED),
                )
            )
            return frozenset(session.execute(query).scalars())

    def dismissed_fingerprints(self, repository_id: int) -> frozenset[str]:
        """What people of this repository do not want to see again."""
        with self._db.read() as session:
            query = sa.select(Dismissal.fingerprint).where(Dismissal.repository_id == repository_id)
            return frozenset(session.execute(query).scalars())

    def last_reviewed(self, repository_id: int, pull: int) -> Reviewed | None:
        """The last patch that got a review: our own record, whatever the forge says later.

        GitHub re-points the commit of an old review after a force-push, so it is never asked.
        """
        with self._db.read() as session:
            row = session.execute(
                sa.select(ReviewRow)
                .where(
                    ReviewRow.repository_id == repository_id,
                    ReviewRow.pull == pull,
                    ReviewRow.job_id.not_in(_of_approvals(repository_id, pull)),
                    ReviewRow.state.in_(FINISHED),
                )
                .order_by(sa.func.coalesce(ReviewRow.submitted_at, ReviewRow.created_at).desc())
                .limit(1)
            ).scalar_one_or_none()
            return None if row is None else Reviewed(row.merge_base, row.head)

    def explain_comment(self, github_id: int) -> Explanation | None:
        """The scores behind a comment, by its number on the forge."""
        with self._db.read() as session:
            comment = session.execute(
                sa.select(CommentRow).where(CommentRow.github_id == github_id)
            ).scalar_one_or_none()
            if comment is None:
                return None
            review = session.get_one(ReviewRow, comment.review_id)
            candidate = (
                session.get(CandidateRow, comment.candidate_id) if comment.candidate_id else None
            )
            return self._explanation(session, review, comment, candidate)

    def explain_review(self, repository_id: int, github_id: int) -> Explanation | None:
        """Every candidate behind a review, by the review's number on the forge."""
        with self._db.read() as session:
            review = session.execute(
                sa.select(ReviewRow).where(
                    ReviewRow.repository_id == repository_id, ReviewRow.github_id == github_id
                )
            ).scalar_one_or_none()
            return None if review is None else self._explanation(session, review)

    @staticmethod
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
            sa.select(CommentRow)
            .where(CommentRow.review_id == review.id)
            .order_by(CommentRow.position)
        ).scalars()
        return Explanation(review, tuple(candidates), tuple(comments), comment, candidate)


def comment_row(
    review_id: int, position: int, comment: DraftComment, candidate_id: int | None
) -> CommentRow:
    """A drafted comment as the ledger keeps it."""
    return CommentRow(
        review_id=review_id,
        candidate_id=candidate_id,
        position=position,
        path=comment.path,
        side=comment.side.value,
        start_line=comment.start_line,
        line=comment.line,
        body=comment.body,
        fingerprint=comment.fingerprint,
    )


def _candidate(review_id: int, judged: JudgedCandidate) -> CandidateRow:
    candidate, score = judged.candidate, judged.score
    return CandidateRow(
        review_id=review_id,
        rank=judged.rank,
        kind=candidate.kind.value,
        origin=candidate.origin,
        path=candidate.path,
        side=candidate.side.value,
        start_line=candidate.start_line,
        line=candidate.line,
        text=candidate.text,
        replacement=asdict(candidate.replacement) if candidate.replacement else None,
        confidence=candidate.confidence,
        weakest=candidate.weakest,
        severity=candidate.severity.value,
        url=candidate.url,
        con=score.con,
        comp=score.comp,
        rel=score.rel,
        judge=score.judge,
        similarity=score.similarity,
        nearest=asdict(score.nearest) if score.nearest else None,
        signature=score.signature,
        reason=judged.verdict.reason.value,
        detail=judged.verdict.detail,
        fingerprint=judged.fingerprint,
    )
