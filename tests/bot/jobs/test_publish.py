"""Publishing is exactly once: every lost answer, every kill, every interleaving of two workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.jobs.forge import (
    DraftReview,
    ForgeError,
    LostAnswer,
    PostedReview,
    ReviewState,
    Transient,
    job_marker,
)
from bot.jobs.publish import Displaced, Gone, Publisher
from tests.bot.jobs.memory_forge import MemoryForge
from tests.bot.service import HEAD, REF, state

MARKER = job_marker("7:3:b:c:0")
DRAFT = DraftReview(f"Summary\n{MARKER}", (), MARKER)
OTHER = job_marker("7:3:b:a:0")


class Killed(BaseException):
    """The process died here."""


def publisher(forge: MemoryForge, held: Callable[[], bool] = lambda: True) -> Publisher:
    return Publisher(forge, REF, HEAD, MARKER, held)


def publish(forge: MemoryForge) -> PostedReview | None:
    """Create and submit as the job's two steps do, until they come through."""
    for _ in range(12):
        try:
            made = publisher(forge).create(DRAFT)
            if made.state is ReviewState.SUBMITTED:
                return made
            return publisher(forge).submit(made.id)
        except (Transient, Gone):
            continue
    raise AssertionError("never came through")


def test_plain() -> None:
    forge = MemoryForge(state())
    posted = publish(forge)
    assert posted is not None
    assert forge.visible == [posted]
    assert publish(forge) == posted, "a second run adopts"
    assert len(forge.reviews) == 1


@pytest.mark.parametrize("call", ["create", "submit"])
@pytest.mark.parametrize("how", ["lose", "drop"])
@pytest.mark.parametrize("times", [1, 2, 6])
def test_lost_answers(call: str, how: str, times: int) -> None:
    """Whether or not the request was performed, one review stands at the end."""
    forge = MemoryForge(state())
    getattr(forge, how)[call] = times
    publish(forge)
    assert len(forge.visible) == len(forge.reviews) == 1


def test_a_kill_at_every_call() -> None:
    """The process dies before the n-th call, for every n; another one starts from the ledger."""
    for moment in range(12):
        forge = MemoryForge(state())
        forge.between = _kill_at(moment)
        with suppress(Killed):
            publish(forge)
        forge.between = lambda _name: None
        publish(forge)
        assert len(forge.visible) == len(forge.reviews) == 1, moment


def _kill_at(moment: int) -> Callable[[str], None]:
    count = 0

    def between(_name: str) -> None:
        nonlocal count
        if count == moment:
            raise Killed
        count += 1

    return between


def test_another_jobs_pending_review_is_deleted_and_a_persons_never() -> None:
    """Trouble 27: adopt nothing without our marker; fall back to single comments."""
    forge = MemoryForge(state())
    forge.reviews.append(PostedReview(1, ReviewState.PENDING, f"old\n{OTHER}"))
    publish(forge)
    assert [one.body for one in forge.reviews] == [DRAFT.body]
    forge = MemoryForge(state(), someone_pending=True)
    posted = publish(forge)
    assert posted is not None
    assert posted.single
    assert "delete" not in forge.calls
    publish(forge)
    assert len(forge.singles) == 1


def test_a_moved_head_leaves_nothing_behind() -> None:
    """Trouble 6: a push during the review; nothing is posted on the stale head."""
    forge = MemoryForge(state())
    made = publisher(forge).create(DRAFT)
    forge.state = state("e" * 40)
    assert publisher(forge).submit(made.id) is None
    assert forge.reviews == []


def test_a_deleted_pending_review_is_said() -> None:
    forge = MemoryForge(state())
    made = publisher(forge).create(DRAFT)
    forge.reviews.clear()
    with pytest.raises(Gone):
        publisher(forge).submit(made.id)


def test_who_lost_the_job_writes_nothing() -> None:
    forge = MemoryForge(state())
    with pytest.raises(Displaced):
        publisher(forge, lambda: False).create(DRAFT)
    assert forge.reviews == []
    made = publisher(forge).create(DRAFT)
    with pytest.raises(Displaced):
        publisher(forge, lambda: False).submit(made.id)
    assert forge.visible == []


# Two workers, each sure that the job is its own, interleaved call by call.


def steps(forge: MemoryForge) -> Iterator[str]:
    """One worker's run as a coroutine that stops before each call to the forge.

    Threads take turns: hypothesis says whose turn it is.
    """
    import threading

    turn, done = threading.Semaphore(0), threading.Semaphore(0)
    finished: list[bool] = []
    me = threading.local()

    def work() -> None:
        me.own = True
        turn.acquire()
        try:
            publish(forge)
        finally:
            finished.append(True)
            done.release()

    before = forge.between

    def between(name: str) -> None:
        if getattr(me, "own", False):
            done.release()
            turn.acquire()
        else:
            before(name)

    forge.between = between
    thread = threading.Thread(target=work)
    thread.start()
    while not finished:
        turn.release()
        done.acquire()
        yield "call"
    thread.join()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    turns=st.lists(st.booleans(), max_size=60),
    lose=st.dictionaries(st.sampled_from(["create", "submit"]), st.integers(1, 2)),
    drop=st.dictionaries(st.sampled_from(["create", "submit", "find", "head"]), st.integers(1, 2)),
)
def test_two_workers_interleaved(
    turns: list[bool], lose: dict[str, int], drop: dict[str, int]
) -> None:
    forge = MemoryForge(state(), lose=lose, drop=drop)
    workers = [steps(forge), steps(forge)]
    for first in turns:
        next(workers[0 if first else 1], None)
    for worker in workers:
        for _ in worker:
            pass
    assert len(forge.visible) == 1, forge.calls
    assert len(forge.reviews) == 1, "a pending review was left behind"


def test_errors_say_what_they_mean() -> None:
    assert issubclass(LostAnswer, Transient)
    assert issubclass(Transient, ForgeError)
