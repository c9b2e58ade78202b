"""Candidates that wait for a person: what waits, and what the person decided of it.

A decision is final. The same decision again changes nothing (a double click, a command whose
delivery comes twice); another one after it is refused with ``Decided``. What was accepted is
posted by a worker (``bot.jobs.approve``), exactly once.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.calibration import rule_of
from bot.feedback.ledger import Feedback
from bot.feedback.outcome import Event, Kind
from bot.feedback.tables import ApprovalRow
from bot.store.database import Database
from bot.store.tables import Dismissal

MOST_BODY = 6_000
"""Characters of a comment's words at most."""
MOST_SUGGESTION = 50_000
"""Characters of a suggestion at most: with the words it must fit into one comment."""


class ApprovalState(StrEnum):
    """How far a waiting candidate has come.

    ``outdated``: accepted, but the head no longer has the lines, or the suggestion would not be
    safe there; ``Waiting.problem`` says which.
    """

    WAITING = "waiting"
    ACCEPTED = "accepted"
    EDITED = "edited"
    REJECTED = "rejected"
    POSTED = "posted"
    OUTDATED = "outdated"


TO_POST = (ApprovalState.ACCEPTED, ApprovalState.EDITED)


class NoSuchCandidate(LookupError):
    """There is no waiting candidate of this number."""


class Decided(ValueError):
    """It was decided otherwise before; the message says how and by whom."""


class BadEdit(ValueError):
    """An edit that cannot be posted: empty, too long; the message says which."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate in the queue.

    ``body`` is Markdown without the suggestion block and the footer, ``suggestion`` the text that
    would replace lines ``start_line``..``line`` (no final line feed; ``None`` for prose).
    ``before`` is the code around them, whose first line is ``before_start``. ``scores`` are
    CRScore's conciseness, comprehensiveness and relevance, ``sure`` the probability that it is
    accepted, ``confidence`` the model's own. ``by`` is who decided. ``problem`` says why an
    accepted one could not be posted.
    """

    id: int
    repository: str
    pull: int
    head: str
    path: str
    start_line: int
    line: int
    side: str
    kind: str
    origin: str
    rule: str
    body: str
    suggestion: str | None
    before: str
    before_start: int
    scores: tuple[float, float, float]
    judge: float | None
    confidence: float
    sure: float
    grounds: list[str]
    created: datetime
    state: str
    by: str | None
    decided: datetime | None = None
    problem: str = ""
    candidate_id: int | None = None
    repository_id: int = 0


def queue(
    database: Database,
    repositories: Collection[str] | None = None,
    state: str = ApprovalState.WAITING,
    limit: int = 50,
    offset: int = 0,
) -> list[Waiting]:
    """What is in this state, the oldest first.

    Args:
        database: the ledger's (``Ledger.database``).
        repositories: only these (``owner/name``, case does not count); ``None`` is all of them.
        state: a value of ``ApprovalState``.
        limit: at most so many.
        offset: how many are left out before them.
    """
    # numbers first, from the index alone: texts are read of this page's rows only
    page = sa.select(ApprovalRow.id).where(*_chosen(repositories, state))
    page = page.order_by(ApprovalRow.id).limit(limit).offset(offset)
    query = sa.select(ApprovalRow).where(ApprovalRow.id.in_(page))
    with database.read() as session:
        rows = session.execute(query.order_by(ApprovalRow.id))
        return [_waiting(row) for row in rows.scalars()]


def count(
    database: Database,
    repositories: Collection[str] | None = None,
    state: str = ApprovalState.WAITING,
) -> int:
    """How many are in this state."""
    query = sa.select(sa.func.count(ApprovalRow.id)).where(*_chosen(repositories, state))
    with database.read() as session:
        return session.execute(query).scalar_one()


def of_pull(
    database: Database, repository_id: int, pull: int, states: Iterable[str] = ()
) -> list[Waiting]:
    """What waits or waited on one pull request, the oldest first; of these states if any."""
    query = sa.select(ApprovalRow).where(
        ApprovalRow.repository_id == repository_id, ApprovalRow.pull == pull
    )
    wanted = [str(state) for state in states]
    if wanted:
        query = query.where(ApprovalRow.state.in_(wanted))
    with database.read() as session:
        return [_waiting(row) for row in session.execute(query.order_by(ApprovalRow.id)).scalars()]


def get(database: Database, number: int) -> Waiting | None:
    """One candidate by its number in the queue."""
    with database.read() as session:
        row = session.get(ApprovalRow, number)
        return None if row is None else _waiting(row)


def accept(
    database: Database,
    number: int,
    login: str,
    body: str | None = None,
    suggestion: str | None = None,
    now: float | None = None,
    sealed: str = "",
) -> Waiting:
    """Accept a candidate, with other words or another suggestion where they are given.

    ``None`` leaves a text as it is; texts that are given and equal are no edit. A suggestion can
    be given only where the candidate has one. The worker posts what was accepted: in the person's
    name where ``sealed`` (``bot.handover``) is given, else the bot does.

    Raises:
        NoSuchCandidate: no such number.
        Decided: it was rejected, accepted with other texts, or is outdated.
        BadEdit: the edited texts cannot be posted.
    """
    with database.write() as session:
        row = _locked(session, number)
        words = row.body if body is None else _lines(body).strip()
        lines = row.suggestion if suggestion is None else _lines(suggestion).removesuffix("\n")
        same = (words, lines) == (row.body, row.suggestion)
        if row.state != ApprovalState.WAITING:
            done = row.state in (*TO_POST, ApprovalState.POSTED)
            if done and same:
                return _waiting(row)
            raise Decided(_decided(row))
        _check(row, words, lines)
        row.state = (ApprovalState.ACCEPTED if same else ApprovalState.EDITED).value
        row.body, row.suggestion, row.sealed = words, lines, sealed
        row.by, row.decided_at = login, time.time() if now is None else now
        return _waiting(row)


def reject(database: Database, number: int, login: str, now: float | None = None) -> Waiting:
    """Reject a candidate: it is not posted, and not proposed again in this repository.

    That counts as a dismissal for what the program learns.

    Raises:
        NoSuchCandidate: no such number.
        Decided: it was accepted before.
    """
    moment = time.time() if now is None else now
    with database.write() as session:
        row = _locked(session, number)
        if row.state != ApprovalState.REJECTED:
            if row.state != ApprovalState.WAITING:
                raise Decided(_decided(row))
            row.state = ApprovalState.REJECTED.value
            row.by, row.decided_at = login, moment
            session.merge(
                Dismissal(
                    repository_id=row.repository_id,
                    fingerprint=row.fingerprint,
                    pull=row.pull,
                    by=login,
                    at=moment,
                )
            )
        decided = moment if row.decided_at is None else row.decided_at
        comment_id, made = row.comment_id, _waiting(row)
    # Kept again at every call, so that a crash between the two costs nothing.
    event = Event(Kind.DISMISS, decided, f"approval:{number}")
    Feedback(database).add(comment_id, [event], moment)
    return made


def _chosen(repositories: Collection[str] | None, state: str) -> list[sa.ColumnElement[bool]]:
    chosen: list[sa.ColumnElement[bool]] = [ApprovalRow.state == str(state)]
    if repositories is not None:
        chosen.append(ApprovalRow.repository_key.in_([name.lower() for name in repositories]))
    return chosen


def _locked(session: Session, number: int) -> ApprovalRow:
    row = session.get(ApprovalRow, number, with_for_update=True)
    if row is None:
        raise NoSuchCandidate(f"nothing in the queue has the number {number}")
    return row


def _decided(row: ApprovalRow) -> str:
    by = f" by {row.by}" if row.by else ""
    why = f" ({row.problem})" if row.problem else ""
    return f"number {row.id} was {row.state} already{by}{why}: it cannot change any more"


def _check(row: ApprovalRow, words: str, lines: str | None) -> None:
    if not words:
        raise BadEdit(f"number {row.id}: a comment without words cannot be posted")
    if len(words) > max(MOST_BODY, len(row.body)):
        raise BadEdit(f"number {row.id}: {len(words)} characters; at most {MOST_BODY}")
    if lines is not None and row.suggestion is None:
        raise BadEdit(f"number {row.id} has no suggestion that could be edited")
    if lines is not None and len(lines) > MOST_SUGGESTION:
        raise BadEdit(
            f"number {row.id}: a suggestion of {len(lines)} characters; at most {MOST_SUGGESTION}"
        )


def _lines(text: str) -> str:
    """A text from a form: browsers send CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _waiting(row: ApprovalRow) -> Waiting:
    return Waiting(
        id=row.id,
        repository=row.repository,
        pull=row.pull,
        head=row.head,
        path=row.path,
        start_line=row.start_line,
        line=row.line,
        side=row.side,
        kind=row.kind,
        origin=row.origin,
        rule=rule_of(row.origin),
        body=row.body,
        suggestion=row.suggestion,
        before=row.before,
        before_start=row.before_start,
        scores=(row.con, row.comp, row.rel),
        judge=row.judge,
        confidence=row.confidence,
        sure=row.sure,
        grounds=[str(one) for one in row.grounds],
        created=datetime.fromtimestamp(row.created_at, UTC),
        state=row.state,
        by=row.by or None,
        decided=(None if row.decided_at is None else datetime.fromtimestamp(row.decided_at, UTC)),
        problem=row.problem,
        candidate_id=row.candidate_id,
        repository_id=row.repository_id,
    )
