"""Handling a recorded delivery: route it, carry the actions out.

``Deliverer.run`` is the durable workflow ``deliver``. All of it is idempotent, so it has no steps:
after a crash it runs from the start.
"""

from __future__ import annotations

import logging
import time

from bot.events import (
    Action,
    AnswerComment,
    CancelPull,
    CommentChanged,
    Context,
    InstallationChanged,
    PressButton,
    PullSeen,
    RepositoriesChanged,
    RepositoryNamed,
    RequestReview,
    Router,
    RunCommand,
    ThreadChanged,
    moment,
)
from bot.feedback.watcher import Moment
from bot.jobs.approve import Approver
from bot.jobs.forge import NotFound, PullRef, Refused, ReviewRequest, Transient
from bot.jobs.outcome import backoff
from bot.jobs.queue import JobQueue
from bot.jobs.services import Services, Watch, watch_nothing
from bot.jobs.stall import Stalls
from bot.logs import delivery_log
from bot.payload import Malformed, Payload, parse
from bot.renames import Names
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.store.tables import Delivery, DeliveryState
from bot.store.workers import forge_scope

log = logging.getLogger(__name__)


class Deliverer:
    """Carries deliveries out; one a worker process, shared by its threads."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        queue: JobQueue,
        services: Services,
        router: Router,
        watch: Watch = watch_nothing,
        stalls: Stalls | None = None,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._queue = queue
        self._services = services
        self._router = router
        self._context = Context(app_id=settings.app_id)
        self._watch = watch
        self._stalls = stalls or Stalls(settings.stall_after)
        self._approver = Approver(ledger, queue, services.forge)
        self._watcher = services.watcher
        self._names = Names(ledger.database, settings.data_dir)

    def run(self, delivery_id: int, dispatch: int) -> str:
        """Carry out one dispatch of a delivery; how it ended, in a word."""
        row = self._ledger.deliveries.start(delivery_id, dispatch, self._settings.max_tries)
        if row is None:
            return "stale"
        with delivery_log(row.guid), self._stalls.step(f"delivery {row.id}", "deliver"):
            self._watch("before", "deliver")
            try:
                state, reason = self._handle(row)
            except Transient as error:
                return self._defer(row, error)
            except (Refused, Malformed) as error:
                state, reason = DeliveryState.FAILED, str(error)
            self._watch("after", "deliver")
            self._ledger.deliveries.finish(row.id, state, reason, time.time())
            log.info("delivery handled", extra={"state": state.value, "reason": reason})
            return state.value

    def _defer(self, row: Delivery, error: Transient) -> str:
        if error.retry_after:
            scope = forge_scope(row.installation_id)
            self._ledger.workers.hold(scope, error.retry_after, str(error))
        delay = backoff(
            row.defers,
            self._settings.retry_delay,
            self._settings.retry_delay_max,
            error.retry_after or 0,
        )
        give_up_at = time.time() - self._settings.give_up_after
        waits = self._ledger.deliveries.defer(
            row.id, str(error), delay, give_up_at, self._queue.deliver
        )
        log.info("delivery waits", extra={"reason": str(error), "seconds": round(delay, 1)})
        return "waiting" if waits else "parked"

    def _handle(self, row: Delivery) -> tuple[DeliveryState, str]:
        same = self._ledger.deliveries.same_body(row)
        if same is not None:
            return DeliveryState.IGNORED, f"the same body as delivery {same}"
        if row.body is None:
            return DeliveryState.FAILED, "its body is no longer kept"
        payload = parse(row.body)
        routed = self._router.route(row.event, payload, self._context)
        if not routed.actions:
            return DeliveryState.IGNORED, routed.reason
        if not any(isinstance(one, RepositoryNamed) for one in routed.actions):
            self._note_name(payload)
        notes = [self._perform(row, action) for action in routed.actions]
        return DeliveryState.HANDLED, "; ".join(notes)

    def _note_name(self, payload: Payload) -> None:
        """A repository's name as the delivery shows it, where it also shows since when at most."""
        at = moment(payload, "repository.updated_at")
        number = payload.maybe_number("repository.id")
        name = payload.maybe_text("repository.full_name")
        if at is not None and number is not None and name:
            self._names.seen(number, name, at)

    def _perform(self, row: Delivery, action: Action) -> str:
        match action:
            case RequestReview(ref, request, head):
                # Labels and redeliveries by the dozen cost the forge nothing.
                job = self._ledger.jobs.standing(ref, head, request.key) if head else None
                return f"job {job}: exists" if job else self._when_open(ref, row, request)
            case CancelPull(ref, reason):
                return self._cancel(ref, reason)
            case RunCommand(ref, comment):
                if not self._services.commander.mentions(comment.body):
                    return "no command"
                result = self._services.commander.run(ref, comment)
                notes = [result.note or "command run"]
                if result.cancel:
                    notes.append(self._cancel_jobs(ref, "by command"))
                if result.request is not None:
                    notes.append(self._when_open(ref, row, result.request))
                self._approver.dispatch(ref.repository_id)
                return ", ".join(notes)
            case AnswerComment(ref, comment):
                if self._services.suggester is None:
                    return "comments are not answered"
                return self._services.suggester.unasked(ref, comment)
            case PressButton(ref, button, by):
                if self._services.approvals is None:
                    return "no buttons here"
                note = self._services.approvals.pressed(ref, button, by)
                self._approver.dispatch(ref.repository_id)
                return note
            case ThreadChanged(ref, thread_id, comment_id, resolved, by, at, person):
                at = at or row.received_at
                ours = self._ledger.memory.set_thread(
                    thread_id,
                    ref.repository_id,
                    ref.number,
                    comment_id,
                    resolved,
                    by,
                    at,
                )
                if self._watcher is not None and comment_id is not None:
                    self._watcher.thread(comment_id, thread_id, resolved, at, person)
                return "thread noted" if ours else "not our thread"
            case PullSeen(ref, head, base, at, closed):
                if self._watcher is None:
                    return "nobody watches"
                return self._watcher.seen(Moment(ref, head, base, at, closed))
            case CommentChanged(_, comment_id, state, person, at):
                if self._watcher is not None and state == "deleted":
                    self._watcher.deleted(comment_id, at or row.received_at, person)
                ours = self._ledger.memory.set_comment_state(comment_id, state, row.received_at)
                return f"comment {state}" if ours else "not our comment"
            case InstallationChanged():
                return self._installation(action, row)
            case RepositoryNamed(number, name, before):
                at = moment(parse(row.body or b""), "repository.updated_at") or row.received_at
                moved = self._names.seen(number, name, at, before)
                return f"was {', '.join(moved)}" if moved else "name noted"
            case RepositoriesChanged(installation_id, added, removed):
                self._ledger.memory.change_repositories(installation_id, dict(added), removed)
                if removed:
                    self._ledger.jobs.cancel_repositories(
                        removed, "the repository was taken from the App", time.time()
                    )
                return "repositories noted"

    def _when_open(self, ref: PullRef, row: Delivery, request: ReviewRequest) -> str:
        """Make a job for the pull request as it is now, so that late deliveries do no harm."""
        if ref.installation_id is not None:
            standing = self._ledger.memory.installation_state(ref.installation_id)
            if standing != "active":
                return f"the installation is {standing}"
        held, reason = self._ledger.workers.held_for(forge_scope(ref.installation_id))
        if held > 0:
            raise Transient(reason, held)
        state = self._services.forge.pull(ref)
        if not state.is_open:
            return "the pull request is closed"
        made = self._ledger.jobs.request(
            ref, state, request, row.id, time.time(), self._queue.review
        )
        return f"job {made.job_id}: {made.outcome}"

    def _cancel(self, ref: PullRef, reason: str) -> str:
        """Cancel, unless the pull request was opened or made ready again in the meantime."""
        try:
            state = self._services.forge.pull(ref)
        except NotFound:
            return self._cancel_jobs(ref, reason)
        if reason == "closed" and state.is_open:
            return "open again"
        if reason == "draft" and not state.draft:
            return "ready again"
        return self._cancel_jobs(ref, reason)

    def _cancel_jobs(self, ref: PullRef, reason: str) -> str:
        gone = self._ledger.jobs.cancel_pull(ref.repository_id, ref.number, reason, time.time())
        return f"{len(gone)} jobs cancelled"

    def _installation(self, change: InstallationChanged, row: Delivery) -> str:
        self._ledger.memory.set_installation(
            change.installation_id,
            change.account,
            change.state,
            change.selection,
            dict(change.permissions),
            row.received_at,
        )
        self._ledger.memory.change_repositories(
            change.installation_id, dict(change.repositories), ()
        )
        if change.state != "active":
            self._ledger.jobs.cancel_installation(
                change.installation_id, f"the installation is {change.state}", time.time()
            )
        return f"installation {change.state}"
