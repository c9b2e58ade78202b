"""Prometheus metrics: what this machine's processes did, and what the ledger holds.

Counters and durations are kept in files of a shared folder (``PROMETHEUS_MULTIPROC_DIR``, set by
``marginalia serve``), so that the web process answers for the worker beside it. States, ages and
verdicts are counted in the ledger at each scrape: they are true after any restart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from bot.store.database import Database
from bot.store.tables import (
    UNFINISHED,
    CandidateRow,
    Delivery,
    Job,
    ReviewRow,
    Worker,
)

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_ACK_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_STEP_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Metrics:
    """One process's counters; the registry is its own, so that tests may have several."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._deliveries = Counter(
            "marginalia_deliveries",
            "Deliveries taken in",
            ["event", "outcome"],
            registry=self.registry,
        )
        self._refused = Counter(
            "marginalia_deliveries_refused",
            "Deliveries refused",
            ["status"],
            registry=self.registry,
        )
        self._acks = Histogram(
            "marginalia_acknowledgement_seconds",
            "From a delivery's arrival to its answer",
            buckets=_ACK_BUCKETS,
            registry=self.registry,
        )
        self._steps = Histogram(
            "marginalia_step_seconds",
            "Time in each step of a job",
            ["step"],
            buckets=_STEP_BUCKETS,
            registry=self.registry,
        )
        self._jobs = Counter(
            "marginalia_jobs_ended", "Jobs ended", ["state"], registry=self.registry
        )
        self._quota = {
            name: Gauge(
                f"marginalia_github_quota_{name}",
                f"GitHub's hourly quota of requests: {name}, as last answered",
                registry=self.registry,
                multiprocess_mode="mostrecent",
            )
            for name in ("remaining", "limit")
        }

    def delivery(self, event: str, outcome: str) -> None:
        """Count a delivery; the names of events that are not used are not kept apart."""
        known = event if outcome != "ignored" else "other"
        self._deliveries.labels(known, outcome).inc()

    def refused(self, status: int) -> None:
        """Count a delivery that was answered 4xx."""
        self._refused.labels(str(status)).inc()

    @contextmanager
    def acknowledgement(self) -> Iterator[None]:
        """Measure from arrival to answer."""
        with self._acks.time():
            yield

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure one step of a job."""
        with self._steps.labels(name).time():
            yield

    def job_ended(self, state: str) -> None:
        """Count a job's end."""
        self._jobs.labels(state).inc()

    def quota(self, remaining: int, limit: int, _reset: float) -> None:
        """Note what GitHub's last answer said of the quota."""
        self._quota["remaining"].set(remaining)
        self._quota["limit"].set(limit)


class LedgerCollector(Collector):
    """Counts in the ledger at each scrape."""

    def __init__(self, database: Database, lease: float) -> None:
        self._db = database
        self._lease = lease

    def collect(self) -> Iterator[Metric]:
        """States, ages, verdicts, workers."""
        with self._db.read() as session:
            now = self._db.now(session)
            jobs = session.execute(sa.select(Job.state, sa.func.count()).group_by(Job.state)).all()
            deliveries = session.execute(
                sa.select(Delivery.state, sa.func.count()).group_by(Delivery.state)
            ).all()
            reviews = session.execute(
                sa.select(ReviewRow.state, sa.func.count()).group_by(ReviewRow.state)
            ).all()
            verdicts = session.execute(
                sa.select(CandidateRow.reason, sa.func.count()).group_by(CandidateRow.reason)
            ).all()
            oldest = session.execute(
                sa.select(sa.func.min(Job.queued_at)).where(Job.state.in_(UNFINISHED))
            ).scalar()
            workers = session.execute(
                sa.select(sa.func.count()).where(
                    Worker.beat_at > now - self._lease, Worker.stopped.is_(False)
                )
            ).scalar_one()
        yield _by("marginalia_jobs", "Jobs in the ledger", "state", jobs)
        yield _by("marginalia_ledger_deliveries", "Deliveries kept", "state", deliveries)
        yield _by("marginalia_reviews", "Reviews kept", "state", reviews)
        yield _by("marginalia_candidates", "Candidates kept, by verdict", "reason", verdicts)
        age = max(0.0, now - oldest) if oldest is not None else 0.0
        yield GaugeMetricFamily(
            "marginalia_oldest_job_seconds", "Age of the oldest unfinished job", value=age
        )
        yield GaugeMetricFamily("marginalia_workers", "Workers alive", value=workers)


def _by(name: str, text: str, label: str, rows: Sequence[sa.Row[str, int]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, count in rows:
        family.add_metric([value], count)
    return family


def exposition(metrics: Metrics, database: Database, lease: float) -> bytes:
    """The text that Prometheus reads; without the ledger's part where the ledger is away."""
    if os.environ.get(SHARED_FOLDER):
        own = CollectorRegistry()
        MultiProcessCollector(own)  # type: ignore[no-untyped-call]
    else:
        own = metrics.registry
    return generate_latest(own) + generate_latest(_of_ledger(database, lease))


def _of_ledger(database: Database, lease: float) -> CollectorRegistry:
    """What the ledger holds: counted now, so that one that is away is known before it is said."""
    ledger = CollectorRegistry()
    up = Gauge(
        "marginalia_ledger_up", "Whether the ledger can be read (1) or not (0)", registry=ledger
    )
    try:
        counted = list(LedgerCollector(database, lease).collect())
    except SQLAlchemyError:
        return ledger
    up.set(1)
    ledger.register(_Counted(counted))
    return ledger


class _Counted(Collector):
    """Metrics that are there already."""

    def __init__(self, counted: Sequence[Metric]) -> None:
        self._counted = counted

    def collect(self) -> Iterator[Metric]:
        """Them."""
        yield from self._counted
