"""Into the queue and out of it: what a job leaves to people, and what is posted of it.

A batch is what was accepted on a pull request and not posted yet. It has a name of its own, which
is the key of the job that posts it: the same batch is never two jobs on one head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.anchors import keep_anchors, read_texts
from bot.feedback.approval import TO_POST, ApprovalState
from bot.feedback.tables import ApprovalRow
from bot.review.render import comment_text, grounds
from bot.review.types import JudgedCandidate, ReviewResult, Sources
from bot.store.database import Database
from bot.store.tables import CommentRow, Job, ReviewRow, ReviewRowState
from models.change import Change, Side

AROUND = 3
"""Lines of code shown before and after the lines that a candidate is about."""
PULL_CLOSED = "the pull request was closed"


@dataclass(frozen=True, slots=True)
class Batch:
    """Accepted candidates of one pull request that are to be posted together."""

    key: str
    repository_id: int
    repository: str
    pull: int
    installation_id: int | None
    by: tuple[str, ...]


def keeper(
    job: Job, result: ReviewResult, sources: Sources, wait: bool
) -> Callable[[Session, ReviewRow, Sequence[CommentRow]], None]:
    """What is written beside a draft: every comment's lines and, to ``wait``, the queue.

    The files are read here, before the transaction.
    """
    said = {comment.fingerprint: comment for comment in result.review.comments}
    suggestions = {name: comment.suggestion for name, comment in said.items()}
    texts = read_texts(((one.path, one.side.value) for one in said.values()), sources)

    def keep(session: Session, review: ReviewRow, comments: Sequence[CommentRow]) -> None:
        keep_anchors(session, comments, suggestions, texts)
        if not wait:
            return
        ids = [comment.id for comment in comments]
        session.execute(sa.delete(ApprovalRow).where(ApprovalRow.comment_id.in_(ids)))
        for comment in comments:
            one = said.get(comment.fingerprint)
            if one is not None:
                row = _row(job, comment, one.source, one.suggestion, result.change)
                row.created_at = review.created_at
                session.add(row)

    return keep


def _row(
    job: Job,
    comment: CommentRow,
    judged: JudgedCandidate,
    suggestion: str | None,
    change: Change,
) -> ApprovalRow:
    candidate, score = judged.candidate, judged.score
    first, code = code_around(change, comment.path, Side(comment.side), candidate.start_line,
                              candidate.line)  # fmt: skip
    return ApprovalRow(
        comment_id=comment.id,
        candidate_id=comment.candidate_id,
        repository_id=job.repository_id,
        repository=job.repository,
        repository_key=job.repository.lower(),
        installation_id=job.installation_id,
        pull=job.pull,
        head=job.head,
        path=comment.path,
        side=comment.side,
        start_line=comment.start_line or comment.line,
        line=comment.line,
        kind=candidate.kind.value,
        origin=candidate.origin,
        fingerprint=comment.fingerprint,
        body=comment_text(candidate),
        suggestion=suggestion,
        before=code,
        before_start=first,
        con=score.con,
        comp=score.comp,
        rel=score.rel,
        judge=score.judge,
        confidence=candidate.confidence,
        sure=judged.sure,
        grounds=grounds(judged).split(" · "),
        state=ApprovalState.WAITING.value,
    )


def code_around(change: Change, path: str, side: Side, start: int, end: int) -> tuple[int, str]:
    """The side's lines around ``start``..``end`` that the change shows, and the first's number."""
    file = change.file(path)
    shown: list[tuple[int, str]] = []
    for number in range(max(1, start - AROUND), end + AROUND + 1):
        line = None if file is None else file.line_at(side, number)
        if line is None:
            if number >= start:
                break
            shown = []
            continue
        shown.append((number, line.text))
    first = shown[0][0] if shown else start
    return first, "\n".join(text for _, text in shown)


def batches(database: Database, repository_id: int | None = None) -> list[Batch]:
    """Name what was accepted since the last time, and give every batch that is not posted yet."""
    query = sa.select(ApprovalRow).where(ApprovalRow.state.in_(TO_POST))
    if repository_id is not None:
        query = query.where(ApprovalRow.repository_id == repository_id)
    with database.read() as session:
        # Asked every few seconds: where there is nothing, no writer is kept waiting.
        if session.execute(query.limit(1)).first() is None:
            return []
    with database.write() as session:
        rows = list(session.execute(query.order_by(ApprovalRow.id).with_for_update()).scalars())
        fresh: dict[tuple[int, int, str], str] = {}
        for row in rows:
            if not row.batch:
                # what a person posts in their own name is a review of its own
                place = (row.repository_id, row.pull, row.by if row.sealed else "")
                row.batch = fresh.setdefault(place, f"approval:{row.id}")
        found: dict[str, list[ApprovalRow]] = {}
        for row in rows:
            found.setdefault(row.batch, []).append(row)
        return [
            Batch(
                key,
                group[-1].repository_id,
                group[-1].repository,
                group[-1].pull,
                group[-1].installation_id,
                tuple(dict.fromkeys(row.by for row in group)),
            )
            for key, group in found.items()
        ]


def of_batch(session: Session, batch: str) -> list[ApprovalRow]:
    """A batch's candidates, in the order of their files; those that are outdated too."""
    query = sa.select(ApprovalRow).where(
        ApprovalRow.batch == batch,
        ApprovalRow.state.in_((*TO_POST, ApprovalState.OUTDATED)),
    )
    rows = session.execute(query).scalars()
    return sorted(rows, key=lambda row: (row.path, row.line, row.id))


def set_outdated(database: Database, batch: str, problem: str, now: float) -> int:
    """What is left of a batch cannot be posted any more, for this reason; how many they were."""
    with database.write() as session:
        rows = [row for row in of_batch(session, batch) if row.state in TO_POST]
        for row in rows:
            row.state, row.problem, row.decided_at = ApprovalState.OUTDATED, problem, now
            row.sealed = ""
        return len(rows)


def set_posted(database: Database) -> int:
    """Note what stands on the forge: accepted candidates whose review was submitted."""
    query = (
        sa.select(ApprovalRow)
        .join(CommentRow, CommentRow.id == ApprovalRow.posted_id)
        .join(ReviewRow, ReviewRow.id == CommentRow.review_id)
        .where(ApprovalRow.state.in_(TO_POST), ReviewRow.state == ReviewRowState.SUBMITTED)
    )
    with database.read() as session:
        if session.execute(query.limit(1)).first() is None:
            return 0
    with database.write() as session:
        rows = list(session.execute(query).scalars())
        for row in rows:
            row.state, row.sealed = ApprovalState.POSTED.value, ""
        return len(rows)


@dataclass(frozen=True, slots=True)
class Sealed:
    """What lets a candidate be posted in a person's name (``bot.handover``)."""

    number: int
    login: str
    sealed: str


def sealed_of(database: Database, batch: str) -> list[Sealed]:
    """A batch's, the latest acceptance first; empty where the bot posts."""
    query = sa.select(ApprovalRow.id, ApprovalRow.by, ApprovalRow.sealed).where(
        ApprovalRow.batch == batch, ApprovalRow.sealed != ""
    )
    with database.read() as session:
        return [Sealed(*row) for row in session.execute(query.order_by(ApprovalRow.id.desc()))]


def in_hand(database: Database, login: str) -> int:
    """How many accepted candidates are still to be posted in this person's name."""
    query = sa.select(sa.func.count(ApprovalRow.id)).where(
        ApprovalRow.state.in_(TO_POST),
        ApprovalRow.sealed != "",
        sa.func.lower(ApprovalRow.by) == login.lower(),
    )
    with database.read() as session:
        return int(session.execute(query).scalar_one())


def erase_spent(database: Database, before: float) -> int:
    """Erase what let a worker post in a person's name where nothing is posted with it any more.

    A candidate that was outdated keeps it for its batch's sake, until it is of no use.
    """
    spent = sa.and_(
        ApprovalRow.sealed != "",
        ApprovalRow.state.not_in(TO_POST),
        ApprovalRow.decided_at < before,
    )
    with database.read() as session:
        if session.execute(sa.select(ApprovalRow.id).where(spent).limit(1)).first() is None:
            return 0
    with database.write() as session:
        done: Any = session.execute(sa.update(ApprovalRow).where(spent).values(sealed=""))
        return int(done.rowcount)


def unseal(database: Database, batch: str, why: str) -> None:
    """Erase what would let a batch be posted in a person's name; its review's notes say why."""
    reviews = sa.select(ReviewRow).join(Job, Job.id == ReviewRow.job_id).where(Job.key == batch)
    with database.write() as session:
        sealed = sa.and_(ApprovalRow.batch == batch, ApprovalRow.sealed != "")
        people = session.execute(sa.select(ApprovalRow.by).where(sealed).distinct()).scalars()
        said = ", ".join(sorted(people))
        note = f"posted by the bot in place of {said}, who accepted it: {why}"
        for review in session.execute(reviews).scalars() if said else ():
            review.notes = [*review.notes, note]
        session.execute(sa.update(ApprovalRow).where(sealed).values(sealed=""))


def accepted_by(database: Database, batch: str) -> frozenset[str]:
    """The logins of those who accepted a batch."""
    query = sa.select(ApprovalRow.by).where(ApprovalRow.batch == batch, ApprovalRow.by != "")
    with database.read() as session:
        return frozenset(session.execute(query.distinct()).scalars())


def close_pull(database: Database, repository_id: int, pull: int) -> int:
    """Nothing waits on a closed pull request; how many did."""
    return _shelve(database, repository_id, pull, ApprovalState.WAITING, ApprovalState.OUTDATED)


def reopen_pull(database: Database, repository_id: int, pull: int) -> int:
    """What waited when the pull request was closed waits again."""
    return _shelve(database, repository_id, pull, ApprovalState.OUTDATED, ApprovalState.WAITING)


def _shelve(
    database: Database, repository_id: int, pull: int, old: ApprovalState, new: ApprovalState
) -> int:
    with database.write() as session:
        query = sa.select(ApprovalRow).where(
            ApprovalRow.repository_id == repository_id,
            ApprovalRow.pull == pull,
            ApprovalRow.state == old.value,
            ApprovalRow.by == "",
        )
        rows = list(session.execute(query).scalars())
        for row in rows:
            row.state = new.value
            row.problem = PULL_CLOSED if new is ApprovalState.OUTDATED else ""
        return len(rows)
