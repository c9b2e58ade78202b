"""What GitHub refuses, the double refuses, as vaguely."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.github_double.asking import Asker, app_jwt, bot, person
from tests.github_double.client import Double
from tests.github_double.fixtures import Scene

REVIEWS = "/repos/acme/web/pulls/1/reviews"
GOOD = {"path": "calc.py", "line": 10, "side": "RIGHT", "body": "Why?"}


def errors_of(got: Any) -> list[str]:
    assert got.status_code == 422, got.text
    return list(got.json()["errors"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"line": 25}, "Line could not be resolved"),
        ({"line": 10, "side": "LEFT", "path": "gone.py"}, "Path could not be resolved"),
        ({"line": 39, "start_line": 10, "start_side": "RIGHT"}, "same hunk"),
        ({"start_line": 10, "start_side": "RIGHT"}, "precede"),
        ({"line": 11, "start_line": 10}, "Start side"),
        ({"line": None, "position": 400}, "Position could not be resolved"),
        ({"body": "x" * 65_537}, "too long"),
        ({"body": ""}, "blank"),
    ],
)
def test_trouble_1_and_19_one_bad_comment_refuses_the_whole_review(
    scene: Scene, change: dict[str, Any], said: str
) -> None:
    bad = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    got = bot(scene)("POST", REVIEWS, {"event": "COMMENT", "body": "b", "comments": [GOOD, bad]})
    (message,) = errors_of(got)
    assert said in message
    assert "calc.py" not in message, "GitHub does not name the entry"
    assert scene.github.reviews(scene.pull) == []


def test_trouble_3_and_18_a_deleted_line_takes_comments_on_the_left_only(scene: Scene) -> None:
    scene.github.push(scene.repo, "less", {"README.md": None})
    pull = scene.github.open_pr(scene.repo, head="less")
    at = f"/repos/acme/web/pulls/{pull.number}/reviews"
    entry = {"path": "README.md", "line": 1, "side": "RIGHT", "body": "Why?"}
    ask = bot(scene)
    assert ask("POST", at, {"comments": [entry]}).status_code == 422
    got = ask("POST", at, {"comments": [{**entry, "side": "LEFT"}]})
    assert (got.status_code, got.json()["state"]) == (200, "PENDING")


def test_trouble_27_one_pending_review_an_account(scene: Scene) -> None:
    ask = bot(scene)
    assert ask("POST", REVIEWS, {"body": "one"}).status_code == 200
    assert errors_of(ask("POST", REVIEWS, {"body": "two"})) == [
        "User can only have one pending review per pull request"
    ]
    other = person(scene.github, "bob")
    assert other("POST", REVIEWS, {"body": "mine"}).status_code == 403
    scene.github.set_permission(scene.repo, "bob", "write")
    made = other("POST", REVIEWS, {"body": "mine"})
    assert made.status_code == 200
    assert ask("GET", f"{REVIEWS}/{made.json()['id']}").status_code == 404
    single = ask(
        "POST", "/repos/acme/web/pulls/1/comments", {**GOOD, "commit_id": scene.pull.head_sha}
    )
    assert "pending review" in single.json()["errors"][0]["message"]


def test_submitting_is_done_once(scene: Scene) -> None:
    ask = bot(scene)
    made = ask("POST", REVIEWS, {"body": "one", "comments": [GOOD]}).json()
    at = f"{REVIEWS}/{made['id']}/events"
    assert ask("POST", at, {"event": "COMMENT"}).json()["state"] == "COMMENTED"
    assert ask("POST", at, {"event": "COMMENT"}).status_code == 422
    assert ask("DELETE", f"{REVIEWS}/{made['id']}").status_code == 422
    empty = ask("POST", REVIEWS, {"body": "", "event": "COMMENT"})
    assert errors_of(empty) == ["Body can't be blank"]


def test_a_commit_that_is_no_longer_there_is_refused(scene: Scene) -> None:
    old = scene.pull.head_sha
    pull = scene.github.act(scene.pull, "squash")
    assert pull.head_sha != old
    got = bot(scene)("POST", REVIEWS, {"commit_id": old, "body": "b", "event": "COMMENT"})
    assert errors_of(got) == ["The commit_id is not part of the pull request"]


def test_trouble_5_a_force_push_repoints_the_old_review(scene: Scene) -> None:
    ask = bot(scene)
    ask("POST", REVIEWS, {"body": "b", "event": "COMMENT", "comments": [GOOD]})
    pull = scene.github.act(scene.pull, "squash")
    (review,) = ask("GET", REVIEWS).json()
    assert review["commit_id"] == pull.head_sha != scene.pull.head_sha


def test_nobody_approves_their_own_pull_request(scene: Scene) -> None:
    got = person(scene.github)("POST", REVIEWS, {"event": "APPROVE"})
    assert errors_of(got) == ["Can not approve your own pull request"]


def test_trouble_10_the_diff_has_limits(scene: Scene) -> None:
    ask, diff = bot(scene), "application/vnd.github.diff"
    at = "/repos/acme/web/pulls/1"
    text = ask("GET", at, Accept=diff)
    assert text.status_code == 200
    assert text.text.startswith("diff --git a/calc.py b/calc.py\n")
    for limit in ({"diff_files": 0}, {"diff_lines": 3}, {"diff_bytes": 10}):
        scene.github.reset_limits()
        scene.github.limits(**limit)
        got = ask("GET", at, Accept=diff)
        assert (got.status_code, got.json()["errors"][0]["code"]) == (406, "too_large")


def test_trouble_10_to_12_the_files_list_has_limits(github: Double) -> None:
    github.create_repo("acme/big", {"a.txt": "a\n"})
    names = {f"f{n:02}.txt": "line\n" * 5 for n in range(12)}
    pull = github.open_pr("acme/big", {**names, "z.bin": b"\0\1", "z.one": "x" * 5_000})
    ask = person(github)
    at = f"/repos/acme/big/pulls/{pull.number}/files"
    rows = {r["filename"]: r for r in ask("GET", f"{at}?per_page=100").json()}
    assert len(rows) == 14
    assert "patch" not in rows["z.bin"]
    github.limits(page_patch_lines=20, file_diff_bytes=1_000)
    rows = {r["filename"]: r for r in ask("GET", f"{at}?per_page=100").json()}
    assert [("patch" in r, r["additions"]) for r in rows.values()][:5] == [
        (True, 5),
        (True, 5),
        (True, 5),
        (False, 0),
        (False, 0),
    ]
    small = [ask("GET", f"{at}?per_page=3&page={n}").json() for n in range(1, 5)]
    assert all("patch" in row for page in small for row in page)
    last = ask("GET", f"{at}?per_page=1&page=14").json()
    assert (last[0]["filename"], "patch" in last[0], last[0]["additions"]) == ("z.one", False, 1)
    github.limits(listed_files=10)
    assert len(ask("GET", f"{at}?per_page=100").json()) == 10


def test_an_installation_may_do_what_it_was_granted(scene: Scene) -> None:
    read_only = scene.github.create_app("Reader", permissions={"contents": "read"})
    installation = scene.github.install(read_only)
    ask = Asker(scene.github.url, scene.github.installation_token(installation))
    assert ask("GET", "/repos/acme/web/contents/calc.py").status_code == 200
    got = ask("POST", REVIEWS, {"body": "b"})
    assert (got.status_code, got.json()["message"]) == (
        403,
        "Resource not accessible by integration",
    )
    assert got.headers["X-Accepted-GitHub-Permissions"] == "pull_requests=write"
    scene.github.create_repo("other/secret", {"a": "b"}, private=True)
    assert bot(scene)("GET", "/repos/other/secret").status_code == 404


def test_checks_are_for_apps_and_annotations_come_in_fifties(scene: Scene) -> None:
    at = "/repos/acme/web/check-runs"
    run = {"name": "Marginalia", "head_sha": scene.pull.head_sha}
    assert person(scene.github)("POST", at, run).status_code == 403
    note = {
        "path": "calc.py",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "notice",
        "message": "m",
    }
    ask = bot(scene)
    made = ask("POST", at, run).json()
    output = {"title": "t", "summary": "s", "annotations": [note] * 51}
    assert ask("PATCH", f"{at}/{made['id']}", {"output": output}).status_code == 422
    assert scene.github.checks(scene.pull)[0]["annotations"] == []
    output["annotations"] = [note] * 50
    for _ in range(2):
        assert ask("PATCH", f"{at}/{made['id']}", {"output": output}).status_code == 200
    assert len(scene.github.checks(scene.pull)[0]["annotations"]) == 100
    scene.github.forgive()


def test_app_tokens_are_looked_at(scene: Scene) -> None:
    other = scene.github.create_app("Other")

    def status(token: str) -> int:
        return Asker(scene.github.url, token)("GET", "/app").status_code

    moment = int(time.time())
    assert status(app_jwt(scene.app)) == 200
    assert status(app_jwt(scene.app, iss=scene.app.client_id)) == 200
    assert status(app_jwt(scene.app, key=other.pem)) == 401
    assert status(app_jwt(scene.app, key="guess" * 10, algorithm="HS256")) == 401
    assert status(app_jwt(scene.app, exp=moment - 1)) == 401
    assert status(app_jwt(scene.app, exp=moment + 900)) == 401
    assert status(app_jwt(scene.app, iat=moment + 120)) == 401
    assert status("no.good.token") == 401


def test_tokens_end_and_installations_are_suspended(scene: Scene) -> None:
    ask = bot(scene)
    assert ask("GET", REVIEWS).status_code == 200
    scene.github.expire_tokens()
    assert ask("GET", REVIEWS).status_code == 401
    at = f"/app/installations/{scene.installation}/access_tokens"
    with_jwt = Asker(scene.github.url, app_jwt(scene.app))
    assert with_jwt("POST", at).status_code == 201
    scene.github.change_installation(scene.installation, suspended=True)
    assert with_jwt("POST", at).status_code == 403
    scene.github.uninstall(scene.installation)
    assert with_jwt("POST", at).status_code == 404


def test_trouble_20_limits_by_the_hour_and_by_the_minute(scene: Scene) -> None:
    ask = bot(scene)
    first = ask("GET", REVIEWS)
    assert (first.headers["X-RateLimit-Limit"], first.headers["X-RateLimit-Remaining"]) == (
        "5000",
        "4999",
    )
    scene.github.limits(content_a_minute=2)
    at = "/repos/acme/web/issues/1/comments"
    got = [ask("POST", at, {"body": "hi"}) for _ in range(3)]
    assert [g.status_code for g in got] == [201, 201, 403]
    assert got[2].headers["Retry-After"] == "60"
    scene.github.limits(hourly_requests=1)
    assert ask("GET", REVIEWS).status_code == 403


def test_a_call_that_is_not_there_is_a_violation(github: Double) -> None:
    got = person(github)("GET", "/repos/acme/web/no-such-thing")
    assert got.status_code == 501
    assert [c["path"] for c in github.violations()] == ["/repos/acme/web/no-such-thing"]
    github.forgive()
