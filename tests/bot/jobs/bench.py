"""A worker with a forge in memory, for the tests of jobs: one service in this process."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.jobs.forge import (
    CommandResult,
    Comment,
    DraftReview,
    Plan,
    PullRef,
    PullState,
    RequestKind,
    ReviewRequest,
)
from bot.jobs.queue import JobQueue
from bot.jobs.services import Chore, Services
from bot.jobs.worker import Worker
from bot.metrics_export import Metrics
from bot.review.types import Progress, ReviewOptions, ReviewResult, Sources
from bot.settings import Settings
from bot.store.deliveries import NewDelivery
from bot.store.ledger import Ledger
from bot.store.recorder import Recorder
from bot.store.tables import Delivery, DeliveryState, Job
from models.change import Change
from tests.bot.jobs.memory_forge import MemoryForge
from tests.bot.service import REF, result, state

PATIENCE = 600.0
LEASE = 600.0
"""Seconds; long, so that no machine is so loaded that a living worker looks dead."""


@dataclass
class OneRemark:
    """A reviewer that says one thing; ``trouble`` runs first."""

    trouble: Callable[[Progress], None] = lambda _progress: None
    options: list[ReviewOptions] = field(default_factory=list)

    def review(
        self, change: Change, sources: Sources, options: ReviewOptions, progress: Progress
    ) -> ReviewResult:
        self.options.append(options)
        self.trouble(progress)
        return result(change)


@dataclass
class PlainPolicy:
    """Reviews everything; ``skip`` where not."""

    skip: Callable[[PullState, ReviewRequest], str] = lambda _state, _request: ""

    def plan(self, ref: PullRef, state: PullState, request: ReviewRequest) -> Plan:
        return Plan(skip=self.skip(state, request))


class PlainComposer:
    """The summary and the marker."""

    def compose(self, result: ReviewResult, plan: Plan, marker: str) -> DraftReview | None:
        told = "".join(f"> {note}\n" for note in plan.notes)
        return DraftReview(f"{result.review.summary}\n{told}{marker}", (), marker)


@dataclass
class FullReviewCommander:
    """Any command asks for a full review."""

    ran: list[int] = field(default_factory=list)

    def mentions(self, body: str) -> bool:
        return "/marginalia" in body

    def run(self, ref: PullRef, comment: Comment) -> CommandResult:
        self.ran.append(comment.id)
        key = f"comment:{comment.id}"
        return CommandResult(ReviewRequest(RequestKind.COMMAND, key, True, comment.author))


@dataclass
class Bench:
    """One service in this process, on SQLite."""

    settings: Settings
    ledger: Ledger
    queue: JobQueue
    forge: MemoryForge
    reviewer: OneRemark = field(default_factory=OneRemark)
    policy: PlainPolicy = field(default_factory=PlainPolicy)
    commander: FullReviewCommander = field(default_factory=FullReviewCommander)
    metrics: Metrics = field(default_factory=Metrics)
    chores: tuple[Chore, ...] = ()
    worker: Worker | None = None
    count: int = 0

    def start(self) -> None:
        services = Services(self.forge, self.policy, self.reviewer, PlainComposer(), self.commander)
        self.worker = Worker(self.settings, self.ledger, services, self.metrics, chores=self.chores)
        self.worker.start()

    def deliver(self, event: str = "pull_request", **payload: object) -> int:
        self.count += 1
        body = json.dumps(
            {
                "action": "opened",
                "pull_request": {"number": REF.number},
                "repository": {"id": REF.repository_id, "full_name": REF.repository},
                "installation": {"id": REF.installation_id},
                "nonce": self.count,
                **payload,
            }
        ).encode()
        new = NewDelivery(
            target="integration:1",
            guid=f"g{self.count}",
            event=event,
            body=body,
            body_sha256=hashlib.sha256(body).hexdigest(),
            installation_id=REF.installation_id,
        )
        return Recorder(self.ledger.database, self.queue.deliver_new).record(new).id

    def handled(self, number: int) -> Delivery:
        def done() -> bool:
            row = self.ledger.deliveries.get(number)
            return row is not None and row.state != DeliveryState.RECEIVED

        wait(done, f"delivery {number}")
        row = self.ledger.deliveries.get(number)
        assert row is not None
        return row

    def jobs(self) -> list[Job]:
        return self.ledger.jobs.recent()

    def ended(self, count: int = 1) -> list[Job]:
        def done() -> bool:
            jobs = self.jobs()
            return len(jobs) >= count and all(job.finished_at for job in jobs)

        wait(done, f"the end of {count} jobs")
        return self.jobs()


def wait(what: Callable[[], bool], name: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, f"{name}: not within {PATIENCE:g} s"
        time.sleep(0.03)


@pytest.fixture
def bench(database_url: str, tmp_path: Path, ledger: Ledger, queue: JobQueue) -> Iterator[Bench]:
    settings = Settings(
        database_url=database_url,
        data_dir=tmp_path,
        poll_interval=0.05,
        heartbeat=1,
        lease=LEASE,
        sweep_interval=0.5,
        retry_delay=0.05,
        retry_delay_max=0.1,
        max_tries=3,
        drain=5,
    )
    bench = Bench(settings, ledger, queue, MemoryForge(state()))
    yield bench
    if bench.worker is not None:
        bench.worker.stop()


@pytest.fixture
def database_url(sqlite_template: Path, tmp_path: Path) -> str:
    """SQLite only: the crash matrix runs on PostgreSQL too."""
    import shutil

    shutil.copy(sqlite_template, tmp_path / "ledger.db")
    return f"sqlite:///{tmp_path / 'ledger.db'}"
