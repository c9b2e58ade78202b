"""The review job: claim, fetch, review, create, submit, record.

The function ``ReviewRunner.run`` is the durable workflow ``review``; each step in it is recorded
when it has finished and not run again after a crash. A step that was cut short is run again, so
every step looks first for what it may have done already: the draft is in the ledger, the review on
the forge is found by its marker.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dbos import DBOS
from pydantic import TypeAdapter

from bot.feedback.approval import ApprovalState, of_pull
from bot.feedback.ledger import Feedback
from bot.feedback.waiting import accepted_by, keeper, sealed_of, set_posted
from bot.jobs.approve import draft_accepted
from bot.jobs.forge import (
    Forge,
    Plan,
    PostedReview,
    PullState,
    Refused,
    RequestKind,
    ReviewState,
    Superseded,
    Transient,
    job_marker,
)
from bot.jobs.outcome import GO_ON, Outcome, backoff, end, wait
from bot.jobs.publish import Displaced, Gone, Publisher
from bot.jobs.queue import JobQueue
from bot.jobs.services import Services, Watch, watch_nothing
from bot.jobs.stall import Stalls
from bot.logs import delivery_log, job_log
from bot.metrics_export import Metrics
from bot.review.types import Progress
from bot.settings import Settings
from bot.store.jobs import ref_of, request_of
from bot.store.ledger import Ledger
from bot.store.reviews import FINISHED
from bot.store.tables import Job, JobState, ReviewRowState
from bot.store.workers import forge_scope

log = logging.getLogger(__name__)

_STATE = TypeAdapter(PullState)
_PLAN = TypeAdapter(Plan)
BUSY_WAIT = 2.0
CHECK_EVERY = 0.5
"""How often, in seconds, a long review looks whether it is still wanted."""

NOT_POSTED = (ReviewRowState.EMPTY, ReviewRowState.SHADOW, ReviewRowState.WAITING)
STEP_NAMES = ("fetch", "review", "create", "submit", "record")
Step = Callable[[Job, Mapping[str, Any]], Outcome]


class ReviewRunner:
    """Runs review jobs; one a worker process, shared by its threads."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        queue: JobQueue,
        services: Services,
        holder: str,
        metrics: Metrics,
        watch: Watch = watch_nothing,
        stalls: Stalls | None = None,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._queue = queue
        self._services = services
        self._holder = holder
        self._metrics = metrics
        self._watch = watch
        self._stalls = stalls or Stalls(settings.stall_after)
        self._feedback = Feedback(ledger.database)

    def run(self, job_id: str, dispatch: int) -> str:
        """Carry out one dispatch of a job; how it ended, in a word."""
        with job_log(job_id):
            # Not a step: a takeover must count as a try and change the holder.
            verdict, job = self._ledger.jobs.claim(
                job_id,
                dispatch,
                self._holder,
                self._settings.max_tries,
                self._settings.jobs_per_repository,
                time.time(),
            )
            if job is None:
                log.info("job not begun", extra={"reason": verdict})
                return verdict
            if verdict == "busy":
                reason = "the repository's jobs take turns"
                self._defer(job, wait(reason, BUSY_WAIT, patient=True), job.holder)
                return verdict
            with delivery_log(self._guid(job)):
                return self._run_steps(job)

    def _guid(self, job: Job) -> str:
        delivery = self._ledger.deliveries.get(job.delivery_id) if job.delivery_id else None
        return delivery.guid if delivery else ""

    def _run_steps(self, job: Job) -> str:
        steps = (self._fetch, self._review, self._create, self._submit, self._record)
        data: Mapping[str, Any] = {}
        for name, step in zip(STEP_NAMES, steps, strict=True):
            self._ledger.jobs.at_step(job.id, job.dispatch, name)
            with self._stalls.step(job.id, name):
                stored = DBOS.run_step({"name": name}, self._guarded, name, step, job, data)
            outcome = Outcome.from_json(stored)
            if not outcome.goes_on:
                return self._conclude(job, outcome)
            data = {**data, **(outcome.data or {})}
        return self._conclude(job, end(JobState.DONE, ""))

    def _guarded(self, name: str, step: Step, job: Job, data: Mapping[str, Any]) -> dict[str, Any]:
        """Run a step and turn what the forge may answer into an outcome."""
        self._watch("before", name)
        scope = forge_scope(job.installation_id)
        with self._metrics.step(name):
            try:
                outcome = step(job, data)
            except Transient as error:
                if error.retry_after:
                    # Everyone who speaks for this installation waits, not this job alone.
                    self._ledger.workers.hold(scope, error.retry_after, str(error))
                outcome = wait(str(error), error.retry_after or 0)
            except Refused as error:
                outcome = end(JobState.FAILED, str(error))
            except Gone:
                outcome = wait("the pending review was deleted")
            except Superseded:
                outcome = end(JobState.SUPERSEDED, "a newer request")
            except Displaced:
                outcome = end(JobState.SUPERSEDED, "taken over by another worker")
        self._watch("after", name)
        return outcome.to_json()

    def _conclude(self, job: Job, outcome: Outcome) -> str:
        if outcome.wait is not None:
            return self._defer(job, outcome, self._holder)
        state = JobState.SUPERSEDED if outcome.moved else JobState(outcome.end)
        # A job that was replaced or taken over is another's to end: then nothing changes here.
        if self._ledger.jobs.finish(
            job.id, job.dispatch, self._holder, state, outcome.reason, time.time()
        ):
            self._metrics.job_ended(state.value)
            log.info("job ended", extra={"state": state.value, "reason": outcome.reason})
            if outcome.moved:
                self._follow_head(job, outcome)
        return state.value

    def _defer(self, job: Job, outcome: Outcome, holder: str) -> str:
        seconds = outcome.wait or 0
        if not outcome.patient:
            seconds = backoff(
                job.defers,
                self._settings.retry_delay,
                self._settings.retry_delay_max,
                at_least=seconds,
            )
        now = time.time()
        waits = self._ledger.jobs.defer(
            job.id,
            job.dispatch,
            holder,
            outcome.reason,
            seconds,
            now - self._settings.give_up_after,
            self._queue.review,
            now,
            counts=not outcome.patient,
        )
        log.info("job waits", extra={"reason": outcome.reason, "seconds": round(seconds, 1)})
        return "waiting" if waits else "parked"

    def _follow_head(self, job: Job, outcome: Outcome) -> None:
        """The head moved under the job: ask for the new one, should its delivery never come."""
        if not outcome.data:
            return
        state = _STATE.validate_python(outcome.data["state"])
        self._ledger.jobs.request(
            ref_of(job),
            state,
            replace(request_of(job), full=job.full),
            job.delivery_id,
            time.time(),
            self._queue.review,
        )

    # the steps

    def _fetch(self, job: Job, _data: Mapping[str, Any]) -> Outcome:
        """What the pull request is now, and what the settings say of it."""
        held, reason = self._ledger.workers.held_for(forge_scope(job.installation_id))
        if held > 0:
            return wait(reason, held, patient=True)
        ref, request = ref_of(job), request_of(job)
        state = self._services.forge.pull(ref)
        moved = (state.head, state.merge_base) != (job.head, job.merge_base)
        review = self._ledger.reviews.of_job(job.id)
        if review is not None and review.state in FINISHED and (moved or not state.is_open):
            # Posted by an earlier dispatch that did not come to its end; nothing to follow up.
            return end(JobState.DONE, "")
        if not state.is_open:
            return end(JobState.CANCELLED, "closed")
        if moved:
            return self._moved(state)
        if request.kind is RequestKind.EVENT and self._ledger.reviews.has_reviewed(
            job.repository_id, job.pull, job.merge_base, job.head, but_job=job.id
        ):
            return end(JobState.SKIPPED, "this patch was reviewed already")
        plan = self._services.policy.plan(ref, state, request)
        if plan.skip:
            return end(JobState.SKIPPED, plan.skip)
        return Outcome(
            data={
                "state": _STATE.dump_python(state, mode="json"),
                "plan": _PLAN.dump_python(plan, mode="json"),
            }
        )

    @staticmethod
    def _moved(state: PullState) -> Outcome:
        return Outcome(
            moved=True,
            reason=f"head is now {state.head[:12]}",
            data={"state": _STATE.dump_python(state, mode="json")},
        )

    def _review(self, job: Job, data: Mapping[str, Any]) -> Outcome:
        """Fetch the patch, review it, and write draft and candidates to the ledger."""
        reviews = self._ledger.reviews
        if reviews.of_job(job.id) is not None:
            return GO_ON
        ref = ref_of(job)
        state = _STATE.validate_python(data["state"])
        plan = _PLAN.validate_python(data["plan"])
        since = reviews.last_reviewed(job.repository_id, job.pull)
        if job.full or not plan.incremental:
            since = None
        if request_of(job).kind is RequestKind.APPROVAL:
            fetched = self._services.forge.change(ref, state, None)
            draft_accepted(self._ledger.database, job, fetched, time.time())
            return GO_ON
        fetched = self._services.forge.change(ref, state, since)
        options = replace(
            plan.options,
            known_fingerprints=reviews.known_fingerprints(job.repository_id, job.pull),
            dismissed_fingerprints=reviews.dismissed_fingerprints(job.repository_id),
            learnt=self._learnt(job) if plan.learn else None,
        )
        result = self._services.reviewer.review(
            fetched.change, fetched.sources, options, self._progress(job)
        )
        marker = job_marker(job.id)
        notes = (*plan.notes, *fetched.notes)
        draft = self._services.composer.compose(result, replace(plan, notes=notes), marker)
        waits = plan.mode == "approve" and bool(draft and draft.comments)
        if self._settings.shadow or plan.mode == "shadow":
            kind = ReviewRowState.SHADOW
        elif plan.mode == "approve":
            # not even the summary is posted unasked
            kind = ReviewRowState.WAITING if waits else ReviewRowState.EMPTY
        else:
            kind = ReviewRowState.EMPTY if draft is None else ReviewRowState.DRAFTED
        also = keeper(job, result, fetched.sources, waits)
        reviews.save_draft(job, result, draft, marker, notes, kind, time.time(), also)
        return GO_ON

    def _learnt(self, job: Job) -> Mapping[str, Any]:
        """What this team's answers taught, or its installation's where it has none yet."""
        return self._feedback.model(
            job.repository_id, job.installation_id, job.repository
        ).to_json()

    def _progress(self, job: Job) -> Progress:
        last = time.monotonic()

        def check(stage: str, done: int, total: int) -> None:
            nonlocal last
            self._stalls.progress(job.id)
            if time.monotonic() - last < CHECK_EVERY:
                return
            last = time.monotonic()
            if not self._ledger.jobs.is_held(job.id, job.dispatch, self._holder):
                raise Superseded(f"job {job.id}: no longer wanted at {stage} {done}/{total}")

        return check

    def _announce(self, job: Job) -> tuple[str, ...]:
        """Tell people that candidates wait for them."""
        approvals = self._services.approvals
        waiting = of_pull(
            self._ledger.database, job.repository_id, job.pull, [ApprovalState.WAITING]
        )
        if approvals is None or not waiting:
            return ()
        return approvals.announce(ref_of(job), job.head, job.id, len(waiting))

    def _forge(self, job: Job, posts: bool = True) -> Forge:
        """Who writes: the bot, or who accepted the candidates; where nothing is posted, the bot."""
        person = self._services.in_person
        if person is None or request_of(job).kind is not RequestKind.APPROVAL:
            return self._services.forge
        poster = person.poster(job.key) if posts else None
        return poster or person.bot(accepted_by(self._ledger.database, job.key))

    def _decline(self, job: Job, error: Refused) -> None:
        """The bot posts in place of a person whom the forge refuses."""
        person = self._services.in_person
        if person is None or not sealed_of(self._ledger.database, job.key):
            raise error
        log.info("the bot posts in a person's place", extra={"reason": str(error)})
        person.decline(job.key, str(error))

    def _publisher(self, job: Job) -> Publisher:
        return Publisher(
            self._forge(job),
            ref_of(job),
            job.head,
            job_marker(job.id),
            lambda: self._ledger.jobs.is_held(job.id, job.dispatch, self._holder),
        )

    def _create(self, job: Job, _data: Mapping[str, Any]) -> Outcome:
        """Make the review pending on the forge, or find what an earlier try made."""
        review = self._ledger.reviews.of_job(job.id)
        if review is None or review.state in NOT_POSTED:
            return GO_ON
        draft = self._ledger.reviews.draft(review)
        try:
            posted = self._publisher(job).create(draft)
        except Refused as error:
            self._decline(job, error)
            posted = self._publisher(job).create(draft)
        self._ledger.reviews.set_posted(review.id, posted, time.time())
        return GO_ON

    def _submit(self, job: Job, _data: Mapping[str, Any]) -> Outcome:
        """Check the head once more and make the review visible."""
        review = self._ledger.reviews.of_job(job.id)
        if review is None or review.state != ReviewRowState.PENDING or review.github_id is None:
            return GO_ON
        try:
            posted = self._publisher(job).submit(review.github_id)
        except Gone:
            self._ledger.reviews.set_draft_again(review.id)
            raise
        except Refused as error:
            self._decline(job, error)
            self._ledger.reviews.set_draft_again(review.id)
            raise Gone from error
        if posted is None:
            self._ledger.reviews.set_draft_again(review.id)
            return self._moved(self._services.forge.pull(ref_of(job)))
        self._ledger.reviews.set_posted(review.id, posted, time.time())
        return GO_ON

    def _record(self, job: Job, data: Mapping[str, Any]) -> Outcome:
        """Note the comments' numbers, resolve threads whose code is gone, set the check run."""
        review = self._ledger.reviews.of_job(job.id)
        if review is None or review.state == ReviewRowState.SHADOW:
            return GO_ON
        ref = ref_of(job)
        if review.state == ReviewRowState.WAITING:
            self._ledger.reviews.add_notes(review.id, self._announce(job))
            return GO_ON
        set_posted(self._ledger.database)
        posted: PostedReview | None = None
        if review.github_id is not None:
            posted = PostedReview(
                review.github_id,
                ReviewState.SUBMITTED,
                review.body,
                review.url,
                review.single,
            )
            if not review.single:
                comments = self._forge(job, posts=False).posted_comments(ref, review.github_id)
                self._ledger.reviews.set_comments(review.id, comments)
        notes = self._forge(job, posts=False).follow_up(
            ref,
            _STATE.validate_python(data["state"]),
            _PLAN.validate_python(data["plan"]),
            posted,
        )
        self._ledger.reviews.add_notes(review.id, notes)
        return GO_ON
