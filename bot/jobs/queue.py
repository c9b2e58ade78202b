"""Putting work on the job library's queues, from any process, within a ledger transaction.

A web process never launches the job library: it writes the rows that a worker takes up. The row
of the work and the row of the job are in one transaction, so neither is ever without the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions
from sqlalchemy.orm import Session

from bot.store.database import jobs_engine
from bot.store.tables import Delivery, Job

APPLICATION = "marginalia"
SCHEMA = "dbos"
DELIVERIES = "deliveries"
REVIEWS = "reviews"
DELIVER_WORKFLOW = "deliver"
REVIEW_WORKFLOW = "review"
FINISHED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
CHUNK = 500
"""Workflows asked for at a time."""
# JSON, not pickle: what is in the database is read as data, whoever wrote it.
SERIALIZER = DBOSPortableJSONSerializer()


class JobQueue:
    """Enqueues deliveries and reviews; thread-safe."""

    def __init__(self, database_url: str, job_version: str, pool_size: int = 4) -> None:
        self._version = job_version
        self._engine = jobs_engine(database_url, pool_size)
        self.client = DBOSClient(
            system_database_engine=self._engine,
            dbos_system_schema=SCHEMA,
            serializer=SERIALIZER,
            application_name=APPLICATION,
            lazy=True,
            retry_connection_errors=False,
        )

    def deliver_new(self, connection: sa.Connection, delivery_id: int, dispatch: int = 0) -> None:
        """Queue the handling of a delivery that this transaction records."""
        self._enqueue(
            connection,
            {
                "workflow_name": DELIVER_WORKFLOW,
                "queue_name": DELIVERIES,
                "workflow_id": delivery_workflow(delivery_id, dispatch),
            },
            0,
            delivery_id,
            dispatch,
        )

    def deliver(self, session: Session, delivery: Delivery, delay: float = 0) -> None:
        """Queue the handling of a delivery, once for each of its dispatch numbers."""
        self._enqueue(
            session,
            {
                "workflow_name": DELIVER_WORKFLOW,
                "queue_name": DELIVERIES,
                "workflow_id": delivery_workflow(delivery.id, delivery.dispatch),
            },
            delay,
            delivery.id,
            delivery.dispatch,
        )

    def review(self, session: Session, job: Job, delay: float = 0) -> None:
        """Queue a review, once for each of the job's dispatch numbers; one runs a pull request."""
        self._enqueue(
            session,
            {
                "workflow_name": REVIEW_WORKFLOW,
                "queue_name": REVIEWS,
                "workflow_id": review_workflow(job.id, job.dispatch),
                "queue_partition_key": f"{job.repository_id}:{job.pull}",
            },
            delay,
            job.id,
            job.dispatch,
        )

    def cancel(self, workflow_ids: Sequence[str]) -> None:
        """Take workflows off their queue, or stop them at their next step."""
        if workflow_ids:
            self.client.cancel_workflows(list(workflow_ids))

    def forget(self, workflow_ids: Sequence[str]) -> int:
        """Delete what is kept of these workflows, if they are finished; how many that were."""
        with self._engine.connect() as connection:
            schema = None if connection.dialect.name == "sqlite" else SCHEMA
            if not sa.inspect(connection).has_table("workflow_status", schema):
                return 0  # no worker ever ran here
        done = 0
        for at in range(0, len(workflow_ids), CHUNK):
            found = self.client.list_workflows(
                workflow_ids=list(workflow_ids[at : at + CHUNK]),
                status=list(FINISHED),
                load_input=False,
                load_output=False,
            )
            self.client.delete_workflows([one.workflow_id for one in found])
            done += len(found)
        return done

    def close(self) -> None:
        """Close the connections."""
        self.client.destroy()
        self._engine.dispose()

    def _enqueue(
        self,
        transaction: Session | sa.Connection,
        options: EnqueueOptions,
        delay: float,
        *args: int | str,
    ) -> None:
        # Pinned: otherwise jobs queued by one release would wait for ever for its workers.
        options["app_version"] = self._version
        options["application_name"] = APPLICATION
        if delay > 0:
            options["delay_seconds"] = delay
        self.client.enqueue_in_transaction(transaction, options, *args)


def delivery_workflow(delivery_id: int, dispatch: int) -> str:
    """The job library's id for one dispatch of a delivery."""
    return f"delivery:{delivery_id}#{dispatch}"


def review_workflow(job_id: str, dispatch: int) -> str:
    """The job library's id for one dispatch of a job."""
    return f"review:{job_id}#{dispatch}"


def migrate_queue(database_url: str) -> None:
    """Create or update the job library's own tables."""
    DBOS.migrate(database_url, schema=SCHEMA)
