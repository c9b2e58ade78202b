"""What nobody else would do: take over from the dead, wake what lies still, forget what is old.

``reap`` and ``sweep`` run in every worker, but only by the one that holds the lease. Taking over
twice does no harm (the job library lets one runner own a workflow), it only wastes work.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence

from dbos import WorkflowStatus

from bot.jobs.outcome import backoff
from bot.jobs.presence import PATIENCE, Presence
from bot.jobs.queue import (
    APPLICATION,
    DELIVER_WORKFLOW,
    DELIVERIES,
    REVIEW_WORKFLOW,
    REVIEWS,
    JobQueue,
    delivery_workflow,
    review_workflow,
)
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.store.retention import forget_old
from bot.store.tables import JobState

log = logging.getLogger(__name__)

ACTIVE = frozenset({"ENQUEUED", "DELAYED", "PENDING"})
OWN_QUEUE = {DELIVER_WORKFLOW: DELIVERIES, REVIEW_WORKFLOW: REVIEWS}
CHUNK = 500
FINISHED_KEPT = 24 * 3600.0
"""How long the job library's finished workflows are kept, in seconds; the ledger keeps its own."""
REASON_LENGTH = 500


class Sweeper:
    """Keeps the queues moving; one a worker process."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        queue: JobQueue,
        holder: str,
        presence: Presence | None = None,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._queue = queue
        self._holder = holder
        self._presence = presence or Presence(settings.data_dir, holder)

    def reap(self) -> int:
        """Give the running workflows of dead workers back to their queues; how many.

        An executor is dead when it has not been heard of for ``lease`` seconds and no process of
        this machine holds its lock. Each workflow goes to its own queue: on another, nobody with
        its limits would take it up.
        """
        lease = self._settings.lease
        if not self._ledger.workers.take_lease("reaper", self._holder, lease):
            return 0
        alive = self._alive()
        running = self._queue.client.list_workflows(
            status="PENDING", application_name=APPLICATION, load_input=False, load_output=False
        )
        taken = 0
        for workflow in running:
            queue = OWN_QUEUE.get(workflow.name)
            if queue is None or workflow.executor_id in alive:
                continue
            self._queue.client.resume_workflow(workflow.workflow_id, queue_name=queue)
            log.warning(
                "work of a dead worker goes back to its queue",
                extra={"workflow": workflow.workflow_id, "executor": workflow.executor_id},
            )
            taken += 1
        return taken

    def _alive(self) -> set[str]:
        lease = self._settings.lease
        # This process runs, whatever became of its last heartbeat.
        alive = self._ledger.workers.alive(lease) | {self._holder}
        late = self._ledger.workers.alive(lease * PATIENCE) - alive
        return alive | {name for name in late if self._presence.holds(name)}

    def sweep(self) -> int:
        """Queue again what the ledger has and the queue has not; how many.

        That is a delivery whose job was never queued, and a job or delivery whose workflow failed
        with an error (a try that was counted when it began).
        """
        if not self._ledger.workers.take_lease("sweeper", self._holder, self._settings.lease):
            return 0
        return self._sweep_deliveries() + self._sweep_jobs()

    def _sweep_deliveries(self) -> int:
        rows = self._ledger.deliveries.received_before(time.time() - self._settings.sweep_interval)
        found = self._statuses(delivery_workflow(row.id, row.dispatch) for row in rows)
        woken = 0
        for row in rows:
            status = found.get(delivery_workflow(row.id, row.dispatch))
            if status is not None and status.status in ACTIVE:
                continue
            reason = _error(status)
            woken += self._ledger.deliveries.redispatch(
                row, reason, self._delay(row.tries, reason), self._queue.deliver
            )
        return woken

    def _sweep_jobs(self) -> int:
        jobs = self._ledger.jobs.unfinished()
        found = self._statuses(review_workflow(job.id, job.dispatch) for job in jobs)
        woken = 0
        for job in jobs:
            status = found.get(review_workflow(job.id, job.dispatch))
            if status is not None and status.status in ACTIVE:
                continue
            reason = _error(status)
            became = self._ledger.jobs.redispatch(
                job.id,
                job.dispatch,
                reason,
                self._settings.max_tries,
                self._delay(job.tries, reason),
                self._queue.review,
                time.time(),
            )
            if became is not None:
                extra = {"id": job.id, "state": became.value, "reason": reason}
                log.warning("a job lay still", extra=extra)
            woken += became is JobState.WAITING
        return woken

    def _delay(self, tries: int, reason: str) -> float:
        if not reason:
            return 0
        settings = self._settings
        return backoff(max(0, tries - 1), settings.retry_delay, settings.retry_delay_max)

    def _statuses(self, ids: Iterable[str]) -> dict[str, WorkflowStatus]:
        wanted = list(ids)
        found: dict[str, WorkflowStatus] = {}
        for start in range(0, len(wanted), CHUNK):
            for status in self._queue.client.list_workflows(
                workflow_ids=wanted[start : start + CHUNK], load_input=False
            ):
                found[status.workflow_id] = status
        return found

    def forget(self) -> None:
        """Drop what retention no longer keeps, and the job library's finished workflows."""
        if not self._ledger.workers.take_lease("retention", self._holder, self._settings.lease):
            return
        now = time.time()
        forget_old(
            self._ledger.database,
            now,
            self._settings.retention_days * 86_400,
            self._settings.body_retention_days * 86_400,
        )
        self._ledger.workers.forget_dead(max(86_400, 10 * self._settings.lease))
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - FINISHED_KEPT))
        while True:
            old: Sequence[WorkflowStatus] = self._queue.client.list_workflows(
                status=["SUCCESS", "ERROR", "CANCELLED"],
                completed_before=before,
                application_name=APPLICATION,
                load_input=False,
                load_output=False,
                limit=CHUNK,
            )
            if not old:
                return
            self._queue.client.delete_workflows([workflow.workflow_id for workflow in old])


def _error(status: WorkflowStatus | None) -> str:
    if status is None or status.error is None:
        return ""
    return " ".join(str(status.error).split())[:REASON_LENGTH]
