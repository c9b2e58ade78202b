"""A worker with a forge in memory: from a recorded delivery to a review, and what goes wrong."""

from __future__ import annotations

import time

from bot.jobs.forge import (
    PullRef,
    PullState,
    Reviewed,
    ReviewRequest,
    Transient,
)
from bot.review.types import Progress
from bot.store.deliveries import NewDelivery
from bot.store.recorder import Recorder
from bot.store.tables import DeliveryState, Job, JobState, ReviewRowState
from tests.bot.jobs.bench import (
    PATIENCE,
    Bench,
    bench,
    database_url,
    wait,
)
from tests.bot.service import BASE, HEAD, REF, state

__all__ = ["bench", "database_url"]


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
