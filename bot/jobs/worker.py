"""The worker process: launches the job library, beats, sweeps, and stops in good order."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType

from dbos import DBOS, DBOSConfig
from sqlalchemy.exc import SQLAlchemyError

from bot.feedback.watcher import Watcher
from bot.handlers import router
from bot.jobs.approve import APPROVALS_EVERY, Approver
from bot.jobs.deliver import Deliverer
from bot.jobs.forge import ForgeError
from bot.jobs.presence import Presence
from bot.jobs.queue import (
    APPLICATION,
    DELIVER_WORKFLOW,
    DELIVERIES,
    REVIEW_WORKFLOW,
    REVIEWS,
    SCHEMA,
    SERIALIZER,
    JobQueue,
)
from bot.jobs.review import ReviewRunner
from bot.jobs.services import Chore, Services, Watch, watch_nothing
from bot.jobs.stall import Stalls
from bot.jobs.sweeper import Sweeper
from bot.logs import LOUD, adopt
from bot.metrics_export import Metrics
from bot.settings import Settings
from bot.store.database import jobs_engine
from bot.store.ledger import Ledger

log = logging.getLogger(__name__)

FORGET_EVERY = 3600.0
REACTIONS_EVERY = 1800.0
"""How often, in seconds, the thumbs on our comments are asked for: nothing tells of them."""
LOOK_AROUND = 30.0
"""How often, in seconds, a worker looks whether another one has left a chore lying."""
BEAT_AGAIN = 0.5
"""After a heartbeat that failed the next one comes so soon, in seconds."""
SPARE_THREADS = 8
"""Threads of the job library beside those that run jobs."""


def executor_name() -> str:
    """A name that no other process has or ever had.

    The job library restarts the running jobs of a name when a process of that name starts: two
    processes of one name would steal each other's work.
    """
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


class Worker:
    """One worker process's jobs, heart and sweeper. The database must have been migrated.

    The job library is one a process, so is this.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        services: Services,
        metrics: Metrics | None = None,
        watch: Watch = watch_nothing,
        chores: Sequence[Chore] = (),
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._name = executor_name()
        self._queue = JobQueue(settings.database, settings.job_version)
        self._presence = Presence(settings.data_dir, self._name)
        self._sweeper = Sweeper(settings, ledger, self._queue, self._name, self._presence)
        self._stalls = Stalls(settings.stall_after)
        self._deliverer = Deliverer(
            settings, ledger, self._queue, services, router(), watch, self._stalls
        )
        self._reviews = ReviewRunner(
            settings,
            ledger,
            self._queue,
            services,
            self._name,
            metrics or Metrics(),
            watch,
            self._stalls,
        )
        approver = Approver(ledger, self._queue, services.forge)
        self._chores = (*chores, Chore("approvals", APPROVALS_EVERY, lambda: _each(approver)))
        person = services.in_person
        if person is not None:
            tidy = Chore("sign-outs", APPROVALS_EVERY, lambda: person.finish(time.time()))
            self._chores += (tidy,)
        watcher = services.watcher
        if watcher is not None:
            self._chores += (Chore("reactions", REACTIONS_EVERY, lambda: _poll(watcher)),)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def name(self) -> str:
        """The executor's name."""
        return self._name

    def start(self) -> None:
        """Announce this worker, then take up jobs."""
        settings = self._settings
        settings.check_database()
        # Before the first job: what a worker without a heartbeat runs would be taken from it.
        self._presence.announce()
        self._ledger.workers.beat(self._name, socket.gethostname(), os.getpid())
        threads = settings.jobs_per_machine + settings.deliveries_per_machine + SPARE_THREADS
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_engine": jobs_engine(settings.database, threads),
            "dbos_system_schema": SCHEMA,
            "serializer": SERIALIZER,
            "executor_id": self._name,
            "application_version": settings.job_version,
            "max_executor_threads": threads,
            "run_migrations": False,
            "log_level": "DEBUG" if settings.log_level == "DEBUG" else "WARNING",
            "enable_otlp": False,
        }
        DBOS(config=config)
        adopt(*LOUD)
        _register(self._deliverer, self._reviews)
        DBOS.listen_queues([DELIVERIES, REVIEWS])
        DBOS.launch()
        DBOS.register_queue(
            DELIVERIES,
            worker_concurrency=settings.deliveries_per_machine,
            polling_interval_sec=settings.poll_interval,
            on_conflict="always_update",
        )
        DBOS.register_queue(
            REVIEWS,
            worker_concurrency=settings.jobs_per_machine,
            partition_concurrency=1,
            polling_interval_sec=settings.poll_interval,
            on_conflict="always_update",
        )
        self._spawn("heart", self._heart)
        self._spawn("reaper", self._reap)
        self._spawn("sweep", self._sweep)
        for chore in self._chores:
            self._spawn(chore.name, partial(self._now_and_then, chore))
        log.info("worker started", extra={"executor": self._name})

    def stop(self) -> None:
        """Take up nothing more, let running jobs finish for a while, say goodbye."""
        DBOS.destroy(
            destroy_registry=True, workflow_completion_timeout_sec=int(self._settings.drain)
        )
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=5)
        self._stalls.rest()
        try:
            self._ledger.workers.stop(self._name)
        except SQLAlchemyError:
            log.warning("could not say goodbye; the lease will run out")
        self._presence.leave()
        self._queue.close()
        log.info("worker stopped", extra={"executor": self._name})

    def run_until_signal(self) -> None:
        """Start, wait for SIGTERM or SIGINT, stop."""
        wanted = threading.Event()

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            wanted.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, on_signal)
        try:
            self.start()
        except SQLAlchemyError:
            # Threads of the job library run already; left alone they keep a dead process alive,
            # and nobody would start it anew.
            log.exception("the worker could not start")
            DBOS.destroy(destroy_registry=True)
            raise
        while not wanted.wait(1.0):
            pass
        self.stop()

    def _spawn(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _now_and_then(self, chore: Chore) -> None:
        """Run a chore at once and at every interval, where no other worker does.

        The first run has a lease of its own, a short one: what a worker left behind that died a
        moment ago must not wait for the end of its interval. Afterwards the interval's lease is
        looked at often, so that another worker goes on with it soon.
        """
        lease, every = self._settings.lease, chore.every
        name, seconds, due = f"chore:{chore.name}:start", lease, 0.0
        while not self._stop.is_set():
            now = time.monotonic()
            try:
                if now >= due and self._ledger.workers.take_lease(name, self._name, seconds):
                    due = now + every
                    chore.run()
            except (SQLAlchemyError, ForgeError) as error:
                reason = type(error).__name__
                log.warning("chore missed", extra={"chore": chore.name, "reason": reason})
            if name.endswith(":start"):
                due = now + every
                name, seconds = f"chore:{chore.name}", max(every, lease)
            self._stop.wait(min(every, LOOK_AROUND))

    def _heart(self) -> None:
        """Beat and do nothing else: what is slow here makes a living worker look dead."""
        host, pid = socket.gethostname(), os.getpid()
        pause = self._settings.heartbeat
        while not self._stop.wait(pause):
            pause = self._settings.heartbeat
            self._stalls.look()
            try:
                self._ledger.workers.beat(self._name, host, pid)
            except SQLAlchemyError as error:
                log.warning("heartbeat missed", extra={"reason": type(error).__name__})
                pause = min(pause, BEAT_AGAIN)

    def _reap(self) -> None:
        while not self._stop.wait(self._settings.heartbeat):
            try:
                self._sweeper.reap()
            except SQLAlchemyError as error:
                log.warning("reaping missed", extra={"reason": type(error).__name__})

    def _sweep(self) -> None:
        forgot = time.monotonic()
        while not self._stop.wait(self._settings.sweep_interval):
            try:
                self._sweeper.sweep()
                if time.monotonic() - forgot > FORGET_EVERY:
                    forgot = time.monotonic()
                    self._sweeper.forget()
            except SQLAlchemyError as error:
                log.warning("sweep missed", extra={"reason": type(error).__name__})


def _poll(watcher: Watcher) -> None:
    watcher.poll_all()
    watcher.forget()


def _each(approver: Approver) -> None:
    approver.dispatch()


def _register(deliverer: Deliverer, reviews: ReviewRunner) -> None:
    """Tell the job library which functions its rows mean."""

    @DBOS.workflow(name=DELIVER_WORKFLOW)
    def deliver(delivery_id: int, dispatch: int) -> str:
        return deliverer.run(delivery_id, dispatch)

    @DBOS.workflow(name=REVIEW_WORKFLOW)
    def review(job_id: str, dispatch: int) -> str:
        return reviews.run(job_id, dispatch)
