"""Threads whose code is gone, and the check run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.github.follow_up import annotations_of
from bot.github.forge import GitHubForge
from bot.jobs.forge import Plan
from tests.bot.github.conftest import remark


@pytest.fixture
def reviewed(scene):
    """A posted review with a remark on a line that goes and one on a line that stays."""
    draft = scene.draft(remark(10, "Goes."), remark(8, "Stays."))
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    posted = scene.forge.submit_review(scene.ref, made.id)
    text = "".join(f"line {n}\n" for n in range(1, 41)).replace("line 10\n", "line zehn\n")
    scene.github.push(scene.ref.repository, "change", {"src/a.py": text})
    return posted


def test_only_threads_whose_code_is_gone_are_resolved(scene, reviewed):
    scene.github.change_installation(scene.ref.installation_id, permissions={"contents": "write"})
    scene.github.expire_tokens()
    forge = GitHubForge(scene.identity, scene.github.url, resolve_threads=True)
    state = forge.pull(scene.ref)
    assert forge.follow_up(scene.ref, state, Plan(resolve_threads=False), reviewed) == ()
    assert not any(t["resolved"] for t in scene.github.threads(scene.pull))
    assert forge.follow_up(scene.ref, state, Plan(), reviewed) == ()
    resolved = {
        t["comments"][0]["body"].split("\n")[0]: t["resolved"]
        for t in scene.github.threads(scene.pull)
    }
    assert resolved == {"Goes.": True, "Stays.": False}
    assert forge.follow_up(scene.ref, state, Plan(), reviewed) == ()


def test_trouble_27_without_the_permission_threads_are_left_with_a_note(scene, reviewed):
    forge = GitHubForge(scene.identity, scene.github.url, resolve_threads=True)
    (note,) = forge.follow_up(scene.ref, forge.pull(scene.ref), Plan(), reviewed)
    assert "contents: write" in note
    assert not any(t["resolved"] for t in scene.github.threads(scene.pull))


def test_peoples_threads_are_never_resolved(scene, reviewed):
    scene.github.change_installation(scene.ref.installation_id, permissions={"contents": "write"})
    scene.github.expire_tokens()
    quoting = "Goes.\n\n<!-- marginalia:comment x -->"
    scene.github.review_comment(scene.pull, quoting, path="src/a.py", line=10)
    forge = GitHubForge(scene.identity, scene.github.url, resolve_threads=True)
    scene.github.push(scene.ref.repository, "change", {"src/a.py": "nothing of it is left\n"})
    forge.follow_up(scene.ref, forge.pull(scene.ref), Plan(), reviewed)
    by = {
        t["comments"][0]["user"]["login"]: t["resolved"] for t in scene.github.threads(scene.pull)
    }
    assert by["alice"] is False
    assert by[scene.app.bot] is True


def test_a_neutral_check_run_once_with_annotations_in_fifties(scene):
    text = "".join(f"new {n}\n" for n in range(60))
    scene.github.push(scene.ref.repository, "change", {"src/many.py": text})
    state = scene.forge.pull(scene.ref)
    comments = [remark(n, f"Remark {n}.", path="src/many.py") for n in range(1, 56)]
    made = scene.forge.create_pending_review(scene.ref, state.head, scene.draft(*comments))
    posted = scene.forge.submit_review(scene.ref, made.id)
    plan = Plan(check_run=True)
    assert scene.forge.follow_up(scene.ref, state, plan, posted) == ()
    assert scene.forge.follow_up(scene.ref, state, plan, posted) == ()
    (check,) = scene.github.checks(scene.pull)
    assert (check["conclusion"], check["head_sha"]) == ("neutral", state.head)
    assert check["output"]["title"] == "55 remarks"
    writes = [c for c in scene.github.calls(path="/check-runs") if c["method"] != "GET"]
    sizes = [len(c["request"]["output"]["annotations"]) for c in writes if "request" in c]
    assert not sizes or sizes[-2:] == [50, 5]


def test_a_token_cannot_post_check_runs(scene, person):
    state = person.pull(scene.ref)
    (note,) = person.follow_up(scene.ref, state, Plan(check_run=True), None)
    assert "checks: write" in note


def test_annotations_stand_on_head_lines_only():
    row = {"path": "a.py", "line": 3, "start_line": None, "side": "RIGHT",
           "body": "Why?\n\n<!-- marginalia:comment f1 -->"}  # fmt: skip
    left = {**row, "side": "LEFT"}
    outdated = {**row, "line": None, "original_line": 9, "original_start_line": 7}
    made = annotations_of([row, left, outdated])
    assert [(a["start_line"], a["end_line"], a["message"]) for a in made] == [
        (3, 3, "Why?"),
        (7, 9, "Why?"),
    ]


def test_a_follow_up_without_anything_to_do(scene):
    state = replace(scene.forge.pull(scene.ref), draft=True)
    assert scene.forge.follow_up(scene.ref, state, Plan(), None) == ()
