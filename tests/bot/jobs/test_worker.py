"""A worker with a forge in memory: from a recorded delivery to a review, and what goes wrong."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa
from dbos import DBOS

from bot.jobs.forge import (
    CommandResult,
    Comment,
    DraftReview,
    Plan,
    PullRef,
    PullState,
    RequestKind,
    Reviewed,
    ReviewRequest,
    Transient,
)
from bot.jobs.queue import JobQueue
from bot.jobs.review import STEP_NAMES
from bot.jobs.services import Chore, Services
from bot.jobs.sweeper import Sweeper
from bot.jobs.worker import Worker, executor_name
from bot.metrics_export import Metrics, exposition
from bot.review.types import Progress, ReviewOptions, ReviewResult, Sources
from bot.settings import Settings
from bot.store.deliveries import NewDelivery
from bot.store.ledger import Ledger
from bot.store.recorder import Recorder
from bot.store.tables import Delivery, DeliveryState, Job, JobState, ReviewRowState
from models.change import Change
from tests.bot.jobs.memory_forge import MemoryForge
from tests.bot.service import BASE, HEAD, REF, result, state

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


def test_one_review_a_head_whatever_is_delivered(bench: Bench) -> None:
    """Trouble 8, and the order and number of deliveries."""
    bench.start()
    first = bench.handled(bench.deliver())
    assert first.state == DeliveryState.HANDLED
    bench.ended()
    for action in ("synchronize", "labeled", "reopened"):
        assert "exists" in bench.handled(bench.deliver(action=action)).reason
    assert len(bench.forge.visible) == 1
    review = bench.ledger.reviews.of_job(bench.jobs()[0].id)
    assert review is not None
    assert (review.state, review.github_id) == (ReviewRowState.SUBMITTED, bench.forge.visible[0].id)
    # A push: a second review, which knows what the first one said.
    bench.forge.state = state("d" * 40)
    bench.handled(bench.deliver(action="synchronize"))
    bench.ended(2)
    assert len(bench.forge.visible) == 2
    # Trouble 5: the last reviewed patch is our own record.
    last = bench.ledger.reviews.last_reviewed(7, 3)
    assert last == Reviewed(BASE, "d" * 40)
    # A command: a new request on the same patch is a new review.
    number = bench.deliver(
        "issue_comment",
        action="created",
        issue={"number": 3, "pull_request": {}},
        comment={"id": 5, "body": "/marginalia full review", "user": {"login": "ann"}},
    )
    bench.handled(number)
    jobs = bench.ended(3)
    assert sorted(job.request_number for job in jobs) == [0, 0, 1]
    assert len(bench.forge.visible) == 3


def test_the_same_body_under_a_new_guid_does_nothing(bench: Bench) -> None:
    bench.start()
    bench.handled(bench.deliver())
    bench.ended()
    row = bench.ledger.deliveries.get(1)
    assert row is not None
    new = NewDelivery("integration:1", "replayed", row.event, row.body or b"", row.body_sha256)
    made = Recorder(bench.ledger.database, bench.queue.deliver_new).record(new)
    again = bench.handled(made.id)
    assert (again.state, again.reason) == (DeliveryState.IGNORED, "the same body as delivery 1")
    assert len(bench.jobs()) == 1


def test_a_push_during_the_review_stops_it(bench: Bench) -> None:
    """Trouble 6: never posted on a stale head; the new head gets its review."""
    pushed: list[int] = []

    def trouble(progress: Progress) -> None:
        if pushed:
            return
        bench.forge.state = state("d" * 40)
        pushed.append(bench.deliver(action="synchronize"))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            progress("model", 0, 1)
            time.sleep(0.05)

    bench.reviewer.trouble = trouble
    bench.start()
    bench.deliver()
    jobs = bench.ended(2)
    assert {job.head: job.state for job in jobs} == {
        HEAD: JobState.SUPERSEDED,
        "d" * 40: JobState.DONE,
    }
    assert len(bench.forge.visible) == len(bench.forge.reviews) == 1


def test_a_push_whose_delivery_is_lost_is_followed(bench: Bench) -> None:
    def trouble(_progress: Progress) -> None:
        bench.forge.state = state("d" * 40)

    bench.reviewer.trouble = trouble
    bench.start()
    bench.deliver()
    jobs = bench.ended(2)
    assert {job.head: job.state for job in jobs} == {
        HEAD: JobState.SUPERSEDED,
        "d" * 40: JobState.DONE,
    }
    assert [review.state for review in bench.forge.reviews] == ["submitted"]


def test_closed_and_reopened(bench: Bench) -> None:
    bench.forge.state = state(is_open=False)
    bench.start()
    assert bench.handled(bench.deliver()).reason == "the pull request is closed"
    bench.forge.state = state()
    late = bench.handled(bench.deliver(action="closed"))
    assert late.reason == "open again", "a late delivery must not stop a reopened pull request"
    bench.handled(bench.deliver(action="reopened"))
    assert [job.state for job in bench.ended()] == [JobState.DONE]


def test_skipped_is_not_done(bench: Bench) -> None:
    """A draft is skipped with its reason; made ready, it gets its one review."""
    bench.policy.skip = lambda state, _request: "a draft" if state.draft else ""
    bench.forge.state = state(draft=True)
    bench.start()
    bench.handled(bench.deliver())
    (job,) = bench.ended()
    assert (job.state, job.reason) == (JobState.SKIPPED, "a draft")
    bench.forge.state = state()
    bench.handled(bench.deliver(action="ready_for_review"))
    bench.ended(2)
    bench.handled(bench.deliver(action="labeled"))
    wait(lambda: all(job.finished_at for job in bench.jobs()), "the label's job")
    assert len(bench.forge.visible) == 1


def test_a_poisonous_job_is_parked_and_can_be_tried_again(bench: Bench) -> None:
    def trouble(_progress: Progress) -> None:
        raise ZeroDivisionError("a hunk that breaks the model")

    bench.reviewer.trouble = trouble
    bench.start()
    bench.deliver()
    wait(lambda: [job.state for job in bench.jobs()] == [JobState.PARKED], "parking")
    (job,) = bench.jobs()
    assert job.tries == 3
    assert "a hunk that breaks the model" in job.reason
    assert len(bench.reviewer.options) == 3
    bench.reviewer.trouble = lambda _progress: None
    assert bench.ledger.jobs.retry(job.id, time.time(), bench.queue.review)
    assert [job.state for job in bench.ended()] == [JobState.DONE]


def test_a_rate_limit_makes_the_whole_installation_wait(bench: Bench) -> None:
    """Trouble 20: Retry-After is honoured, and no try is counted."""
    told: list[float] = []
    ask = bench.forge.pull

    def limited(ref: PullRef) -> PullState:
        if len(told) < 2:
            told.append(time.monotonic())
            raise Transient("secondary rate limit", 0.5)
        told.append(time.monotonic())
        return ask(ref)

    bench.forge.pull = limited  # type: ignore[method-assign]
    bench.start()
    number = bench.deliver()
    row = bench.handled(number)
    assert row.state == DeliveryState.HANDLED
    assert row.defers >= 1
    assert told[1] - told[0] >= 0.5
    (job,) = bench.ended()
    assert (job.state, job.tries) == (JobState.DONE, 1)


def test_shadow_mode_records_everything_and_posts_nothing(bench: Bench) -> None:
    bench.settings = bench.settings.model_copy(update={"shadow": True})
    bench.start()
    bench.deliver()
    (job,) = bench.ended()
    review = bench.ledger.reviews.of_job(job.id)
    assert review is not None
    assert review.state == ReviewRowState.SHADOW
    assert "Summary." in review.body
    assert not {"create", "submit", "single", "follow_up"} & set(bench.forge.calls)
    assert bench.ledger.reviews.last_reviewed(7, 3) is not None


def test_metrics_tell_of_jobs_steps_ages_and_verdicts(bench: Bench) -> None:
    bench.start()
    bench.deliver()
    bench.ended()
    bench.metrics.quota(4990, 5000, 0.0)
    text = exposition(bench.metrics, bench.ledger.database, bench.settings.lease).decode()
    for step in STEP_NAMES:
        assert f'marginalia_step_seconds_count{{step="{step}"}} 1.0' in text
    for line in (
        'marginalia_jobs_ended_total{state="done"} 1.0',
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
    text = exposition(bench.metrics, bench.ledger.database, bench.settings.lease).decode()
    (age,) = re.findall(r"^marginalia_oldest_job_seconds (\S+)$", text, re.M)
    assert float(age) >= 100


def test_what_was_said_and_dismissed_reaches_the_reviewer(bench: Bench) -> None:
    """Trouble 7: a dismissed remark never returns."""
    bench.ledger.memory.dismiss(7, 3, "fp-old", "ann", 1.0)
    bench.start()
    bench.deliver()
    bench.ended()
    assert bench.reviewer.options[0].dismissed_fingerprints == {"fp-old"}


def test_what_could_not_be_read_is_told_in_the_review(bench: Bench) -> None:
    """Troubles 10 and 12: a change that was read in part, or by git, says so where it is read."""
    bench.forge.notes = ("more than 3000 files: the change was read by git instead",)
    bench.start()
    bench.deliver()
    (job,) = bench.ended()
    assert "> more than 3000 files: the change was read by git" in bench.forge.visible[0].body
    review = bench.ledger.reviews.of_job(job.id)
    assert review is not None
    assert review.notes == list(bench.forge.notes)


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


def test_the_sweeper_wakes_a_delivery_without_a_job(bench: Bench) -> None:
    """Nothing recorded is lost, even where its row in the queue is."""
    number = bench.deliver()
    bench.queue.client.delete_workflows([f"delivery:{number}#0"])
    bench.start()
    assert bench.handled(number).state == DeliveryState.HANDLED
    assert [job.state for job in bench.ended()] == [JobState.DONE]


def test_a_gone_repository_fails_and_a_redelivery_wakes_it(bench: Bench) -> None:
    from bot.jobs.forge import NotFound

    ask = bench.forge.pull

    def gone(ref: PullRef) -> PullState:
        raise NotFound("o/r#3: not found, or not ours to see")

    bench.forge.pull = gone  # type: ignore[method-assign]
    bench.start()
    row = bench.handled(bench.deliver())
    assert (row.state, row.reason) == (DeliveryState.FAILED, "o/r#3: not found, or not ours to see")
    bench.forge.pull = ask  # type: ignore[method-assign]
    new = NewDelivery(row.target, row.guid, row.event, row.body or b"", row.body_sha256)
    again = Recorder(bench.ledger.database, bench.queue.deliver_new).record(new)
    assert again.revived
    assert bench.handled(row.id).state == DeliveryState.HANDLED


def test_an_unlucky_installation_is_left_alone(bench: Bench) -> None:
    bench.start()
    installation = {"id": 5, "account": {"login": "o"}}
    bench.handled(bench.deliver("installation", action="suspend", installation=installation))
    assert bench.handled(bench.deliver()).reason == "the installation is suspended"
    bench.handled(bench.deliver("installation", action="unsuspend", installation=installation))
    bench.handled(bench.deliver())
    assert [job.state for job in bench.ended()] == [JobState.DONE]


def test_what_is_taken_from_the_app_is_not_reviewed(bench: Bench) -> None:
    """Uninstalled, or a repository taken away: what was still to be done of it is cancelled."""
    bench.settings = bench.settings.model_copy(update={"sweep_interval": 3600.0})
    wanted = {
        number: bench.ledger.jobs.request(
            PullRef(number, f"o/r{number}", 1, 5), state(), ReviewRequest(), None, 1.0, later
        ).job_id
        for number in (8, 9)
    }
    bench.start()
    removed = [{"id": 8, "full_name": "o/r8"}]
    number = bench.deliver(
        "installation_repositories", action="removed", repositories_removed=removed
    )
    assert bench.handled(number).reason == "repositories noted"
    assert bench.ledger.jobs.get(wanted[8]).reason == "the repository was taken from the App"
    assert bench.ledger.jobs.get(wanted[9]).state == JobState.QUEUED
    gone = {"id": 5, "account": {"login": "o"}}
    bench.handled(bench.deliver("installation", action="deleted", installation=gone))
    job = bench.ledger.jobs.get(wanted[9])
    assert (job.state, job.reason) == (JobState.CANCELLED, "the installation is removed")
    assert bench.forge.calls == []


def later(_session: object, _job: Job, delay: float = 0) -> None:
    """Queue for a day that does not come in this test: the ledger's row is what counts."""


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


def test_a_storm_of_labels_costs_the_forge_nothing(bench: Bench) -> None:
    """Trouble 20: requests are not spent on what is known."""
    bench.start()
    pull = {"number": REF.number, "head": {"sha": HEAD}}
    bench.handled(bench.deliver(pull_request=pull))
    bench.ended()
    asked = len(bench.forge.calls)
    numbers = [bench.deliver(action="labeled", pull_request=pull) for _ in range(5)]
    assert all("exists" in bench.handled(number).reason for number in numbers)
    assert len(bench.forge.calls) == asked
    # A changed base is another matter: the merge base is asked for.
    bench.forge.state = state(merge_base="a" * 40)
    changes = {"base": {"ref": {"from": "main"}}}
    bench.handled(bench.deliver(action="edited", changes=changes, pull_request=pull))
    assert len(bench.ended(2)) == 2
