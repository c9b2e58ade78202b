"""What a worker process owes others: guards of the job library, chores, bounds, metrics."""

from __future__ import annotations

import re
import threading
import time

import pytest
import sqlalchemy as sa
from dbos import DBOS

from bot.jobs.forge import (
    ReviewRequest,
)
from bot.jobs.review import STEP_NAMES
from bot.jobs.services import Chore
from bot.jobs.sweeper import Sweeper
from bot.jobs.worker import executor_name
from bot.metrics_export import exposition
from bot.review.types import Progress
from bot.store.tables import DeliveryState, JobState
from tests.bot.jobs.bench import (
    LEASE,
    Bench,
    bench,
    database_url,
    wait,
)
from tests.bot.service import REF, state

__all__ = ["bench", "database_url"]


def test_metrics_tell_of_jobs_steps_ages_and_verdicts(bench: Bench) -> None:
    bench.settings = bench.settings.model_copy(update={"sweep_interval": 3600.0})

    def exposed() -> str:
        return exposition(bench.metrics, bench.ledger.database, bench.settings.lease).decode()

    bench.start()
    bench.handled(bench.deliver())
    bench.ended()
    bench.metrics.quota(4990, 5000, 0.0)
    # A job is counted a moment after the ledger has its end.
    wait(lambda: 'marginalia_jobs_ended_total{state="done"} 1.0' in exposed(), "the count")
    text = exposed()
    for step in STEP_NAMES:
        assert f'marginalia_step_seconds_count{{step="{step}"}} 1.0' in text
    for line in (
        'marginalia_jobs{state="done"} 1.0',
        'marginalia_ledger_deliveries{state="handled"} 1.0',
        'marginalia_reviews{state="submitted"} 1.0',
        'marginalia_candidates{reason="posted"} 1.0',
        "marginalia_oldest_job_seconds 0.0",
        "marginalia_github_quota_remaining 4990.0",
    ):
        assert line in text, line
    waiting = state("e" * 40)
    old = time.time() - 100
    bench.ledger.jobs.request(REF, waiting, ReviewRequest(), None, old, lambda *_: None)
    (age,) = re.findall(r"^marginalia_oldest_job_seconds (\S+)$", exposed(), re.M)
    assert float(age) >= 100


def test_chores_run_at_the_start_whoever_held_them_before(bench: Bench) -> None:
    """A worker that died an instant ago holds the hour: the next one looks for itself at once."""
    hourly: list[float] = []
    often: list[float] = []
    for name in ("hourly", "often"):
        assert bench.ledger.workers.take_lease(f"chore:{name}", "dead:1:x", 3600)
    bench.settings = bench.settings.model_copy(update={"heartbeat": 0.02, "lease": 0.1})
    bench.chores = (
        Chore("hourly", 3600, lambda: hourly.append(time.monotonic())),
        Chore("often", 0.1, lambda: often.append(time.monotonic())),
    )
    bench.start()
    wait(lambda: bool(hourly and often), "the first runs")
    assert not bench.ledger.workers.take_lease("chore:often", "other:1:x", 3600), "still the dead's"
    with bench.ledger.database.write() as session:
        session.execute(sa.text("UPDATE leases SET until = 0 WHERE holder = 'dead:1:x'"))
    wait(lambda: len(often) >= 4, "later runs, when its lease has run out")
    assert len(hourly) == 1


@pytest.mark.parametrize(("a_machine", "a_repository"), [(2, 8), (4, 1)])
def test_jobs_are_bounded(bench: Bench, a_machine: int, a_repository: int) -> None:
    """Trouble 24: no more at once than the machine is to bear, or than a repository may have."""
    bench.settings = bench.settings.model_copy(
        update={"jobs_per_machine": a_machine, "jobs_per_repository": a_repository}
    )
    lock = threading.Lock()
    running: list[int] = []
    most = 0

    def trouble(_progress: Progress) -> None:
        nonlocal most
        with lock:
            running.append(1)
            most = max(most, len(running))
        time.sleep(0.3)
        with lock:
            running.pop()

    bench.reviewer.trouble = trouble
    for number in range(1, 6):
        bench.deliver(pull_request={"number": number})
    bench.start()
    jobs = bench.ended(5)
    assert {job.state for job in jobs} == {JobState.DONE}
    assert {job.tries for job in jobs} == {1}, "waiting for a turn is not a try"
    assert 1 <= most <= min(a_machine, a_repository)


# the guards of the job library, each by its name


def test_guard_executor_names_are_unique() -> None:
    assert executor_name() != executor_name()


def test_guard_the_version_is_pinned(bench: Bench) -> None:
    number = bench.deliver()
    (queued,) = bench.queue.client.list_workflows(queue_name="deliveries")
    assert queued.app_version == bench.settings.job_version
    bench.start()
    assert DBOS.application_version == bench.settings.job_version
    assert bench.handled(number).state == DeliveryState.HANDLED


def test_guard_a_dead_workers_job_goes_to_its_own_queue(bench: Bench) -> None:
    """And to no other queue, and not while its worker lives."""
    bench.deliver()
    with bench.ledger.database.write() as session:
        from sqlalchemy import text

        session.execute(
            text("UPDATE workflow_status SET status = 'PENDING', executor_id = 'dead:1:x'")
        )
    bench.ledger.workers.beat("dead:1:x", "h", 1)
    sweeper = Sweeper(bench.settings, bench.ledger, bench.queue, "me")
    assert sweeper.reap() == 0
    bench.ledger.workers.stop("dead:1:x")
    assert sweeper.reap() == 1
    (row,) = bench.queue.client.list_workflows(name="deliver")
    assert (row.status, row.queue_name) == ("ENQUEUED", "deliveries")
    other = Sweeper(bench.settings, bench.ledger, bench.queue, "other")
    assert other.reap() == 0, "one reaper at a time"


def test_a_late_heartbeat_does_not_cost_a_living_worker_its_jobs(bench: Bench) -> None:
    """An overloaded machine: no beat within the lease, but the process runs and holds its lock."""
    import subprocess
    import sys

    code = (
        "import sys, pathlib, bot.jobs.presence as p; "
        "own = p.Presence(pathlib.Path(sys.argv[1]), 'late:1:x'); own.announce(); "
        "print('here', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(bench.settings.data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"here\n"
    bench.deliver()
    bench.ledger.workers.beat("late:1:x", "h", 1)
    with bench.ledger.database.write() as session:
        session.execute(
            sa.text("UPDATE workflow_status SET status = 'PENDING', executor_id = 'late:1:x'")
        )
        session.execute(sa.text(f"UPDATE workers SET beat_at = beat_at - {2 * LEASE}"))
    sweeper = Sweeper(bench.settings, bench.ledger, bench.queue, "me")
    assert sweeper.reap() == 0, "it lives"
    assert list((bench.settings.data_dir / "workers").iterdir()), "its file is left alone"
    with bench.ledger.database.write() as session:
        session.execute(sa.text(f"UPDATE workers SET beat_at = beat_at - {10 * LEASE}"))
    assert sweeper.reap() == 1, "a process that hangs for ten leases is as good as dead"
    with bench.ledger.database.write() as session:
        session.execute(
            sa.text("UPDATE workflow_status SET status = 'PENDING', executor_id = 'late:1:x'")
        )
        session.execute(sa.text(f"UPDATE workers SET beat_at = beat_at + {10 * LEASE}"))
    other.kill()
    other.wait()
    other.stdout.close()
    assert sweeper.reap() == 1, "killed: the kernel has let go of its lock"


def test_the_dead_workers_files_are_cleared_away(bench: Bench) -> None:
    folder = bench.settings.data_dir / "workers"
    folder.mkdir()
    (folder / "dead:1:x.lock").touch()
    bench.start()
    assert bench.worker is not None
    assert [path.name for path in folder.iterdir()] == [f"{bench.worker.name}.lock"]
    bench.worker.stop()
    bench.worker = None
    assert list(folder.iterdir()) == []


def test_nothing_heavy_is_in_the_web_process() -> None:
    """Trouble 24: a model in each web process. None imports a model's library, nor GitHub's."""
    import subprocess
    import sys

    code = (
        "import sys, bot.app, bot.webhook; "
        "print([n for n in ('torch', 'transformers', 'sentence_transformers', 'github', 'numpy')"
        " if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
