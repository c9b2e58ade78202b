"""The ledger on SQLite and on PostgreSQL: shapes, durability, states, memory."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from bot.jobs.forge import (
    DraftComment,
    DraftReview,
    PostedComment,
    PostedReview,
    ReviewRequest,
    ReviewState,
    job_marker,
)
from bot.jobs.queue import JobQueue
from bot.settings import Settings
from bot.store.database import Database
from bot.store.deliveries import NewDelivery
from bot.store.ledger import Ledger
from bot.store.recorder import Recorder
from bot.store.retention import forget_old
from bot.store.tables import Base, DeliveryState, JobState, ReviewRowState
from models.change import Side
from tests.bot.service import BASE, HEAD, REF, change, result, state
from tests.postgres import new_database


def delivery(guid: str, **more: object) -> NewDelivery:
    values = {"target": "repository:7", "event": "pull_request", "body": b"{}", "body_sha256": "x"}
    return NewDelivery(guid=guid, **{**values, **more})  # type: ignore[arg-type]


def test_migrations_make_the_tables_that_the_code_means(ledger: Ledger) -> None:
    assert ledger.database.is_current()
    with ledger.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        own = set(Base.metadata.tables)
        differences = [
            item
            for item in compare_metadata(context, Base.metadata)
            # The job library's tables and alembic's own stand beside ours.
            if not (item[0] in ("remove_table", "remove_index") and _table(item[1]) not in own)
        ]
    assert differences == []


def _table(thing: sa.Table | sa.Index) -> str:
    return thing.name if isinstance(thing, sa.Table) else str(thing.table.name)  # type: ignore[union-attr]


def test_sqlite_syncs_every_commit(ledger: Ledger, queue: JobQueue) -> None:
    """What was answered is on disk: WAL alone would not do (guard 4)."""
    for engine in (ledger.database.engine, queue._engine):
        if engine.dialect.name != "sqlite":
            continue
        with engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_delivery_is_one_by_hook_and_guid(ledger: Ledger, queue: JobQueue) -> None:
    """Trouble 8: all hooks of an event carry one GUID; a redelivery is no second delivery."""
    recorder = Recorder(ledger.database, queue.deliver_new)
    first = recorder.record(delivery("g1"))
    again = recorder.record(delivery("g1"))
    other_hook = recorder.record(delivery("g1", target="integration:9"))
    assert (first.fresh, again.fresh, other_hook.fresh) == (True, False, True)
    assert again.id == first.id != other_hook.id
    row = ledger.deliveries.get(first.id)
    assert row is not None
    assert (row.redeliveries, row.state) == (1, DeliveryState.RECEIVED)
    queued = queue.client.list_workflows(queue_name="deliveries")
    assert sorted(w.workflow_id for w in queued) == [
        f"delivery:{first.id}#0", f"delivery:{other_hook.id}#0",
    ]  # fmt: skip


def test_delivery_and_job_are_one_transaction(ledger: Ledger, queue: JobQueue) -> None:
    def fail(connection: sa.Connection, delivery_id: int, dispatch: int = 0) -> None:
        queue.deliver_new(connection, delivery_id, dispatch)
        raise sa.exc.OperationalError("enqueue", {}, Exception("disk full"))

    recorder = Recorder(ledger.database, fail)
    try:
        recorder.record(delivery("g1"))
    except sa.exc.OperationalError:
        assert ledger.deliveries.find("repository:7", "g1") is None
        assert queue.client.list_workflows(queue_name="deliveries") == []
    else:
        raise AssertionError("the failed commit was reported as done")


def test_many_threads_record_each_delivery_once(ledger: Ledger, queue: JobQueue) -> None:
    recorder = Recorder(ledger.database, queue.deliver_new)
    results: list[tuple[str, bool]] = []

    def work(offset: int) -> None:
        for number in range(20):
            guid = f"g{(number + offset) % 30}"
            results.append((guid, recorder.record(delivery(guid)).fresh))

    threads = [threading.Thread(target=work, args=(offset * 7,)) for offset in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 120
    fresh = sorted(guid for guid, new in results if new)
    assert fresh == sorted({guid for guid, _ in results})


def test_hostile_text_is_kept_visibly(ledger: Ledger, queue: JobQueue) -> None:
    """Trouble 21: text that is not UTF-8, or holds NUL, costs nothing."""
    recorder = Recorder(ledger.database, queue.deliver_new)
    name = "o/\udcff\x00r"
    made = recorder.record(delivery("g1", repository=name, headers={"h": name}))
    row = ledger.deliveries.get(made.id)
    assert row is not None
    assert row.repository == "o/\\udcff\\x00r"
    assert row.headers == {"h": "o/\\udcff\\x00r"}


def test_equal_requests_are_one_job_and_new_heads_supersede(
    ledger: Ledger, queue: JobQueue
) -> None:
    jobs = ledger.jobs
    first = jobs.request(REF, state(), ReviewRequest(full=True), None, 1.0, queue.review)
    same = jobs.request(REF, state(), ReviewRequest(), None, 2.0, queue.review)
    command = jobs.request(REF, state(), ReviewRequest(key="comment:1"), None, 3.0, queue.review)
    again = jobs.request(REF, state(), ReviewRequest(key="comment:1"), None, 4.0, queue.review)
    assert [first.outcome, same.outcome, command.outcome, again.outcome] == [
        "new", "exists", "new", "exists",
    ]  # fmt: skip
    assert first.job_id == f"7:3:{BASE}:{HEAD}:0"
    assert command.job_id == f"7:3:{BASE}:{HEAD}:1"
    pushed = jobs.request(REF, state("d" * 40), ReviewRequest(), None, 5.0, queue.review)
    assert sorted(name for name, _ in pushed.superseded) == sorted([first.job_id, command.job_id])
    old, new = jobs.get(first.job_id), jobs.get(pushed.job_id)
    assert old is not None
    assert new is not None
    assert old.state == JobState.SUPERSEDED
    assert new.full, "the full review that a person asked for was lost"
    # A force-push back: the superseded job runs again, as a new dispatch.
    back = jobs.request(REF, state(), ReviewRequest(), None, 6.0, queue.review)
    assert back.outcome == "revived"
    revived = jobs.get(first.job_id)
    assert revived is not None
    assert (revived.state, revived.dispatch) == (JobState.QUEUED, 2)


def test_a_claim_counts_and_the_poisonous_job_is_parked(ledger: Ledger, queue: JobQueue) -> None:
    made = ledger.jobs.request(REF, state(), ReviewRequest(), None, 1.0, queue.review)
    claims = [ledger.jobs.claim(made.job_id, 1, f"w{number}", 2, 9, 2.0)[0] for number in range(4)]
    assert claims == ["go", "go", "parked", "stale"]
    job = ledger.jobs.get(made.job_id)
    assert job is not None
    assert job.state == JobState.PARKED
    assert ledger.jobs.request(REF, state(), ReviewRequest(), None, 3.0, queue.review).outcome == (
        "parked"
    )
    assert ledger.jobs.retry(made.job_id, 4.0, queue.review)
    assert ledger.jobs.claim(made.job_id, 2, "w", 2, 9, 5.0)[0] == "go"


def test_only_the_holder_ends_a_job(ledger: Ledger, queue: JobQueue) -> None:
    """A worker that was taken for dead and wakes up must not end its successor's job."""
    made = ledger.jobs.request(REF, state(), ReviewRequest(), None, 1.0, queue.review)
    ledger.jobs.claim(made.job_id, 1, "first", 5, 9, 2.0)
    ledger.jobs.claim(made.job_id, 1, "second", 5, 9, 3.0)
    assert not ledger.jobs.is_held(made.job_id, 1, "first")
    assert not ledger.jobs.finish(made.job_id, 1, "first", JobState.SUPERSEDED, "", 4.0)
    assert ledger.jobs.finish(made.job_id, 1, "second", JobState.DONE, "", 5.0)


def test_a_repository_has_its_number_of_jobs(ledger: Ledger, queue: JobQueue) -> None:
    made = [
        ledger.jobs.request(
            type(REF)(7, "o/r", number, 5), state(), ReviewRequest(), None, 1.0, queue.review
        ).job_id
        for number in (1, 2, 3)
    ]
    verdicts = [ledger.jobs.claim(name, 1, "w", 5, 2, 2.0)[0] for name in made]
    assert verdicts == ["go", "go", "busy"]


def test_reviews_keep_every_candidate_and_what_was_said(ledger: Ledger, queue: JobQueue) -> None:
    made = ledger.jobs.request(REF, state(), ReviewRequest(), None, 1.0, queue.review)
    job = ledger.jobs.get(made.job_id)
    assert job is not None
    marker = job_marker(job.id)
    comment = DraftComment("a.py", Side.RIGHT, 1, "Say why.\udcff", "fp-Say why.")
    draft = DraftReview(f"body {marker}", (comment,), marker)
    found = result(change(), ("Say why.", "And how."))
    for _ in range(2):  # a step that runs twice leaves one review
        number = ledger.reviews.save_draft(
            job, found, draft, marker, ("note",), ReviewRowState.DRAFTED, 2.0
        )
    row = ledger.reviews.of_job(job.id)
    assert row is not None
    assert row.id == number
    assert ledger.reviews.draft(row).comments[0].path == "a.py"
    assert ledger.reviews.last_reviewed(7, 3) is None
    assert ledger.reviews.known_fingerprints(7, 3) == frozenset()
    ledger.reviews.set_posted(number, PostedReview(11, ReviewState.SUBMITTED), 3.0)
    ledger.reviews.set_comments(number, (PostedComment(21, "fp-Say why.", url="u"),))
    last = ledger.reviews.last_reviewed(7, 3)
    assert last is not None
    assert (last.merge_base, last.head) == (BASE, HEAD)
    assert ledger.reviews.known_fingerprints(7, 3) == {"fp-Say why."}
    why = ledger.reviews.explain_comment(21)
    assert why is not None
    assert why.candidate is not None
    assert why.candidate.text == "Say why."
    assert [candidate.text for candidate in why.candidates] == ["Say why.", "And how."]
    whole = ledger.reviews.explain_review(7, 11)
    assert whole is not None
    assert len(whole.candidates) == 2


def test_memory(ledger: Ledger) -> None:
    memory = ledger.memory
    memory.put("repo:7", "config", {"a": [1]}, 1.0, by="me")
    memory.put("repo:7", "config", {"a": [2]}, 2.0)
    assert memory.get("repo:7", "config") == {"a": [2]}
    assert memory.put_once("repo:7", "told", True, 1.0)
    assert not memory.put_once("repo:7", "told", True, 2.0)
    memory.dismiss(7, 3, "fp", "me", 1.0)
    memory.dismiss(7, 3, "fp", "me", 2.0)
    assert ledger.reviews.dismissed_fingerprints(7) == {"fp"}
    memory.set_installation(5, "o", "active", "all", {"contents": "read"}, 1.0)
    memory.set_installation(5, "o", "suspended", "all", {}, 2.0)
    assert memory.installation_state(5) == "suspended"
    memory.change_repositories(5, {7: "o/r", 8: "o/s"}, ())
    memory.change_repositories(5, {}, (7,))
    assert memory.repositories(5) == {8: "o/s"}


def test_leases_and_holds(ledger: Ledger) -> None:
    workers = ledger.workers
    assert workers.take_lease("sweeper", "a", 6000)
    assert workers.take_lease("sweeper", "a", 6000)
    assert not workers.take_lease("sweeper", "b", 6000)
    assert workers.take_lease("reaper", "b", 0)
    time.sleep(0.01)
    assert workers.take_lease("reaper", "a", 6000)
    workers.beat("a", "h", 1)
    workers.beat("b", "h", 2)
    workers.stop("b")
    assert workers.alive(6000) == {"a"}
    assert workers.alive(0) == set()
    workers.hold("token", 6000, "secondary limit")
    workers.hold("token", 1, "another")
    left, reason = workers.held_for("token")
    assert 5000 < left <= 6000
    assert reason == "secondary limit"
    assert workers.held_for("installation:1") == (0.0, "")


def test_retention_forgets_bodies_first_and_never_the_unfinished(
    ledger: Ledger, queue: JobQueue
) -> None:
    recorder = Recorder(ledger.database, queue.deliver_new)
    done = recorder.record(delivery("g1")).id
    waiting = recorder.record(delivery("g2")).id
    ledger.deliveries.finish(done, DeliveryState.HANDLED, "", time.time())
    forget_old(ledger.database, time.time() + 10, keep=1000, keep_bodies=1)
    kept, open_one = ledger.deliveries.get(done), ledger.deliveries.get(waiting)
    assert kept is not None
    assert open_one is not None
    assert kept.body is None
    assert open_one.body == b"{}"
    forget_old(ledger.database, time.time() + 2000, keep=1000, keep_bodies=1)
    assert ledger.deliveries.get(done) is None
    assert ledger.deliveries.get(waiting) is not None


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_may_migrate_at_once(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    if kind == "postgresql":
        url = new_database(request.getfixturevalue("postgres_base"), "twice")
    settings = Settings(database_url=url)
    code = (
        "import sys; from bot.store.database import Database; "
        "from bot.jobs.queue import migrate_queue; "
        "migrate_queue(sys.argv[1]); Database(sys.argv[1]).migrate()"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, settings.database]) for _ in range(2)]
    assert [process.wait(timeout=600) for process in started] == [0, 0]
    assert Database(settings.database).is_current()
