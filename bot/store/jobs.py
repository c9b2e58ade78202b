"""Jobs: one review to make, its states, its tries.

A job's id is repository id, pull number, merge base, head and request number, so the same patch
asked for twice is one job. The state here is what counts; the job library's workflow
``review:<id>#<dispatch>`` only carries it out, and a dispatch that is not the row's own stops at
its first look.

States: ``queued`` -> ``running`` -> ``done`` | ``skipped`` | ``superseded`` | ``failed``;
``waiting`` between two dispatches; ``cancelled`` from outside; ``parked`` after too many tries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.jobs.forge import PullRef, PullState, RequestKind, ReviewRequest
from bot.store.database import Database
from bot.store.tables import UNFINISHED, Job, JobState, Request

Enqueue = Callable[[Session, Job, float], None]
"""Queues a job's current dispatch within the transaction, after a delay in seconds."""

REVIVABLE = (JobState.SKIPPED, JobState.SUPERSEDED, JobState.CANCELLED, JobState.FAILED)


@dataclass(frozen=True, slots=True)
class Requested:
    """What a request led to.

    ``outcome`` is ``new``, ``revived``, ``exists`` (unfinished, or done already) or ``parked``;
    ``superseded`` are the jobs that it replaced, as (id, dispatch).
    """

    job_id: str
    outcome: str
    superseded: tuple[tuple[str, int], ...] = ()


def job_id(ref: PullRef, state: PullState, request_number: int) -> str:
    """The job's id: equal for equal patches and requests."""
    return f"{ref.repository_id}:{ref.number}:{state.merge_base}:{state.head}:{request_number}"


class Jobs:
    """The ledger's jobs."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def request(
        self,
        ref: PullRef,
        state: PullState,
        request: ReviewRequest,
        delivery_id: int | None,
        now: float,
        enqueue: Enqueue,
    ) -> Requested:
        """Ask for a review of the patch in ``state``; what other patches were to get is replaced.

        A full review that is replaced makes the new one full: what a person asked for is kept.
        """
        with self._db.write() as session:
            self._db.lock(session, f"pull:{ref.repository_id}:{ref.number}")
            number = self._request_number(session, ref, request.key)
            name = job_id(ref, state, number)
            replaced = self._replace_others(session, ref, state, now)
            full = request.full or any(job.full for job in replaced)
            gone = tuple((job.id, job.dispatch) for job in replaced)
            job = session.get(Job, name, with_for_update=True)
            if job is None:
                job = Job(
                    id=name,
                    repository_id=ref.repository_id,
                    repository=ref.repository,
                    pull=ref.number,
                    installation_id=ref.installation_id,
                    merge_base=state.merge_base,
                    head=state.head,
                    request_number=number,
                    kind=request.kind.value,
                    key=request.key,
                    full=full,
                    requested_by=request.by,
                    delivery_id=delivery_id,
                    state=JobState.QUEUED,
                    dispatch=1,
                    created_at=now,
                    queued_at=now,
                )
                session.add(job)
                session.flush()
                enqueue(session, job, 0)
                return Requested(name, "new", gone)
            job.repository = ref.repository
            job.installation_id = ref.installation_id
            if job.state in REVIVABLE:
                job.full = job.full or full
                job.delivery_id = delivery_id or job.delivery_id
                self._restart(job, now)
                enqueue(session, job, 0)
                return Requested(name, "revived", gone)
            return Requested(name, "parked" if job.state == JobState.PARKED else "exists", gone)

    def standing(self, ref: PullRef, head: str, key: str) -> str | None:
        """The job that this request would lead to, where it is done or under way."""
        with self._db.read() as session:
            query = sa.select(Job.id).where(
                Job.repository_id == ref.repository_id,
                Job.pull == ref.number,
                Job.head == head,
                Job.key == key,
                Job.state.in_((*UNFINISHED, JobState.DONE)),
            )
            return session.execute(query.limit(1)).scalar_one_or_none()

    @staticmethod
    def _request_number(session: Session, ref: PullRef, key: str) -> int:
        if not key:
            return 0
        known = session.get(Request, (ref.repository_id, ref.number, key))
        if known is not None:
            return known.number
        of_pull = (Request.repository_id == ref.repository_id, Request.pull == ref.number)
        last = session.execute(sa.select(sa.func.max(Request.number)).where(*of_pull)).scalar()
        row = Request(
            repository_id=ref.repository_id, pull=ref.number, key=key, number=(last or 0) + 1
        )
        session.add(row)
        return row.number

    @staticmethod
    def _replace_others(session: Session, ref: PullRef, state: PullState, now: float) -> list[Job]:
        query = (
            sa.select(Job)
            .where(
                Job.repository_id == ref.repository_id,
                Job.pull == ref.number,
                Job.state.in_(UNFINISHED),
                sa.or_(Job.head != state.head, Job.merge_base != state.merge_base),
            )
            .with_for_update()
        )
        others = list(session.execute(query).scalars())
        for job in others:
            job.state = JobState.SUPERSEDED
            job.reason = f"head is now {state.head[:12]}"
            job.finished_at = now
        return others

    @staticmethod
    def _restart(job: Job, now: float) -> None:
        job.state = JobState.QUEUED
        job.reason = ""
        job.dispatch += 1
        job.tries = 0
        job.defers = 0
        job.queued_at = now
        job.finished_at = None

    def claim(
        self,
        name: str,
        dispatch: int,
        holder: str,
        max_tries: int,
        repository_limit: int,
        now: float,
    ) -> tuple[str, Job | None]:
        """Begin, or take over: ``("go", job)``, ``("busy", job)``, ``("stale" | "parked", None)``.

        Every claim is a try, counted before the work. ``busy``: the repository has its number of
        jobs running.
        """
        with self._db.write() as session:
            job = session.get(Job, name, with_for_update=True)
            if job is None or job.dispatch != dispatch or job.state not in UNFINISHED:
                return "stale", None
            if job.state != JobState.RUNNING:
                self._db.lock(session, f"repository:{job.repository_id}")
                running = sa.select(sa.func.count()).where(
                    Job.repository_id == job.repository_id, Job.state == JobState.RUNNING
                )
                if session.execute(running).scalar_one() >= repository_limit:
                    return "busy", job
            job.tries += 1
            if job.tries > max_tries:
                self._park(job, now, f"gave up after {max_tries} tries")
                return "parked", None
            job.state = JobState.RUNNING
            job.holder = holder
            job.started_at = now
            return "go", job

    @staticmethod
    def _park(job: Job, now: float, reason: str) -> None:
        job.state = JobState.PARKED
        job.reason = f"{reason}: {job.reason}" if job.reason else reason
        job.finished_at = now

    def is_held(self, name: str, dispatch: int, holder: str) -> bool:
        """Whether this holder still runs this dispatch: false after a takeover or a cancel."""
        with self._db.read() as session:
            job = session.get(Job, name)
            return (
                job is not None
                and job.state == JobState.RUNNING
                and job.dispatch == dispatch
                and job.holder == holder
            )

    def at_step(self, name: str, dispatch: int, step: str) -> None:
        """Note for people which step runs."""
        with self._db.write() as session:
            session.execute(
                sa.update(Job)
                .where(Job.id == name, Job.dispatch == dispatch, Job.state == JobState.RUNNING)
                .values(step=step)
            )

    def finish(
        self, name: str, dispatch: int, holder: str, state: JobState, reason: str, now: float
    ) -> bool:
        """Record how it ended; false where it is no longer this holder's to end."""
        with self._db.write() as session:
            job = session.get(Job, name, with_for_update=True)
            if not _is_current(job, dispatch, holder):
                return False
            job.state = state
            job.reason = reason
            job.finished_at = now
            return True

    def defer(
        self,
        name: str,
        dispatch: int,
        holder: str,
        reason: str,
        delay: float,
        give_up_at: float,
        enqueue: Enqueue,
        now: float,
        counts: bool = True,
    ) -> bool:
        """Run it again later as a new dispatch; waiting for others is not a try.

        ``counts`` says whether it makes the next wait longer. A job queued before ``give_up_at``
        is parked instead (false).
        """
        with self._db.write() as session:
            job = session.get(Job, name, with_for_update=True)
            if not _is_current(job, dispatch, holder):
                return False
            if job.state == JobState.RUNNING:
                job.tries = max(0, job.tries - 1)
            if counts:
                job.defers += 1
            job.reason = reason
            if job.queued_at < give_up_at:
                self._park(job, now, "the forge was away for too long")
                return False
            job.state = JobState.WAITING
            job.dispatch += 1
            enqueue(session, job, delay)
            return True

    def redispatch(
        self,
        name: str,
        dispatch: int,
        reason: str,
        max_tries: int,
        delay: float,
        enqueue: Enqueue,
        now: float,
    ) -> JobState | None:
        """Run it again after a failure (a try that was counted), or park it; its new state.

        ``None`` where this dispatch no longer counts.
        """
        with self._db.write() as session:
            job = session.get(Job, name, with_for_update=True)
            if job is None or job.dispatch != dispatch or job.state not in UNFINISHED:
                return None
            job.reason = reason or job.reason
            if job.tries >= max_tries:
                self._park(job, now, f"gave up after {max_tries} tries")
                return JobState.PARKED
            job.state = JobState.WAITING
            job.dispatch += 1
            enqueue(session, job, delay)
            return JobState.WAITING

    def retry(self, name: str, now: float, enqueue: Enqueue) -> bool:
        """An operator's retry: any finished job but a done one starts anew."""
        with self._db.write() as session:
            job = session.get(Job, name, with_for_update=True)
            if job is None or job.state in UNFINISHED or job.state == JobState.DONE:
                return False
            self._restart(job, now)
            enqueue(session, job, 0)
            return True

    def cancel_pull(
        self, repository_id: int, pull: int, reason: str, now: float
    ) -> tuple[tuple[str, int], ...]:
        """Cancel what is unfinished of a pull request; the (id, dispatch) of each."""
        return self._cancel([Job.repository_id == repository_id, Job.pull == pull], reason, now)

    def cancel_repositories(
        self, repository_ids: tuple[int, ...], reason: str, now: float
    ) -> tuple[tuple[str, int], ...]:
        """Cancel what is unfinished of whole repositories."""
        return self._cancel([Job.repository_id.in_(repository_ids)], reason, now)

    def cancel_installation(
        self, installation_id: int, reason: str, now: float
    ) -> tuple[tuple[str, int], ...]:
        """Cancel what is unfinished of an installation that is gone or suspended."""
        return self._cancel([Job.installation_id == installation_id], reason, now)

    def _cancel(
        self, which: list[sa.ColumnElement[bool]], reason: str, now: float
    ) -> tuple[tuple[str, int], ...]:
        with self._db.write() as session:
            query = sa.select(Job).where(*which, Job.state.in_(UNFINISHED)).with_for_update()
            jobs = list(session.execute(query).scalars())
            for job in jobs:
                job.state = JobState.CANCELLED
                job.reason = reason
                job.finished_at = now
            return tuple((job.id, job.dispatch) for job in jobs)

    def get(self, name: str) -> Job | None:
        """One job by its id."""
        with self._db.read() as session:
            return session.get(Job, name)

    def unfinished(self) -> list[Job]:
        """Every job that is queued, running or waiting."""
        with self._db.read() as session:
            return list(session.execute(sa.select(Job).where(Job.state.in_(UNFINISHED))).scalars())

    def recent(self, states: tuple[str, ...] = (), limit: int = 50) -> list[Job]:
        """The newest jobs, of these states where any are given."""
        query = sa.select(Job).order_by(Job.created_at.desc()).limit(limit)
        if states:
            query = query.where(Job.state.in_(states))
        with self._db.read() as session:
            return list(session.execute(query).scalars())


def _is_current(job: Job | None, dispatch: int, holder: str) -> TypeGuard[Job]:
    return (
        job is not None
        and job.dispatch == dispatch
        and job.holder == holder
        and job.state in UNFINISHED
    )


def ref_of(job: Job) -> PullRef:
    """The pull request that a job is about."""
    return PullRef(job.repository_id, job.repository, job.pull, job.installation_id)


def request_of(job: Job) -> ReviewRequest:
    """The request that made a job."""
    return ReviewRequest(RequestKind(job.kind), job.key, job.full, job.requested_by)
