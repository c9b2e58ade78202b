"""Trouble on demand, and what the double remembers of it."""

from __future__ import annotations

import threading
import time

import pytest
import requests

from tests.github_double.asking import bot
from tests.github_double.fixtures import Scene

AT = "/repos/acme/web/pulls/1/reviews"
REVIEW = {"body": "b", "event": "COMMENT"}


def test_a_status_instead_of_the_call(scene: Scene) -> None:
    scene.github.fault("status", "POST", "*/reviews", status=502, times=2, body="<html>oops</html>")
    ask = bot(scene)
    assert ask("GET", AT).status_code == 200
    assert [ask("POST", AT, REVIEW).status_code for _ in range(3)] == [502, 502, 200]
    assert len(scene.github.reviews(scene.pull)) == 1


def test_a_status_after_the_call_was_performed(scene: Scene) -> None:
    scene.github.fault("status", "POST", "*/reviews", status=504, perform=True)
    assert bot(scene)("POST", AT, REVIEW).status_code == 504
    assert len(scene.github.reviews(scene.pull)) == 1


@pytest.mark.parametrize(("kind", "reviews"), [("lose", 1), ("drop", 0)])
def test_the_connection_is_cut(scene: Scene, kind: str, reviews: int) -> None:
    scene.github.fault(kind, "POST", "*/reviews")
    with pytest.raises(requests.ConnectionError):
        bot(scene)("POST", AT, REVIEW)
    assert len(scene.github.reviews(scene.pull)) == reviews
    assert [c["fault"] for c in scene.github.calls("POST", "/reviews")] == [kind]


def test_the_first_calls_may_be_skipped(scene: Scene) -> None:
    scene.github.fault("status", "GET", "*/reviews", status=500, skip=1)
    ask = bot(scene)
    assert [ask("GET", AT).status_code for _ in range(3)] == [200, 500, 200]


def test_a_call_is_held_until_it_is_let_go(scene: Scene) -> None:
    held = scene.github.fault("hold-after", "POST", "*/reviews", seconds=30)
    ask, statuses = bot(scene), []
    thread = threading.Thread(target=lambda: statuses.append(ask("POST", AT, REVIEW).status_code))
    thread.start()
    assert scene.github.fault_hits(held, wait=10) == 1
    deadline = time.monotonic() + 300
    while not scene.github.reviews(scene.pull) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert statuses == []
    scene.github.release(held)
    thread.join(10)
    assert statuses == [200]


def test_a_call_is_slow(scene: Scene) -> None:
    scene.github.fault("delay", "GET", "*/reviews", seconds=0.4)
    with pytest.raises(requests.Timeout):
        requests.get(scene.github.url + AT, timeout=0.1)


def test_trouble_20_the_two_kinds_of_limit(scene: Scene) -> None:
    ask = bot(scene)
    scene.github.fault("rate-limit", "GET", "*/reviews", seconds=30)
    got = ask("GET", AT)
    assert (got.status_code, got.headers["X-RateLimit-Remaining"]) == (403, "0")
    assert 0 < int(got.headers["X-RateLimit-Reset"]) - time.time() <= 31
    scene.github.fault("secondary-limit", "POST", "*/reviews", seconds=7, status=429)
    got = ask("POST", AT, REVIEW)
    assert (got.status_code, got.headers["Retry-After"]) == (429, "7")
    scene.github.fault("secondary-limit", "POST", "*/reviews", seconds=0)
    got = ask("POST", AT, REVIEW)
    assert (got.status_code, "Retry-After" in got.headers) == (403, False)
    assert scene.github.reviews(scene.pull) == []


def test_a_rule_that_makes_no_sense_is_refused(scene: Scene) -> None:
    with pytest.raises(RuntimeError, match="explode"):
        scene.github.fault("explode")
    with pytest.raises(RuntimeError, match="stauts"):
        scene.github.fault("status", stauts=500)


def test_calls_are_remembered_without_their_tokens(scene: Scene) -> None:
    ask = bot(scene)
    ask("POST", AT, REVIEW)
    (call,) = scene.github.calls("POST", "/reviews")
    assert (call["caller"], call["status"], call["body"]) == ("marginalia[bot]", 200, REVIEW)
    assert ask.token not in str(scene.github.calls())


def test_nothing_new_is_answered_304(scene: Scene) -> None:
    ask = bot(scene)
    tag = ask("GET", AT).headers["ETag"]
    assert ask("GET", AT, If_None_Match=tag).status_code == 304
    ask("POST", AT, REVIEW)
    assert ask("GET", AT, If_None_Match=tag).status_code == 200
