"""Deliveries read back from GitHub's list, and told from polls."""

from __future__ import annotations

import hashlib
import hmac
import json
import time

from bot.events import Context
from bot.github.deliveries import PollState, missed, poll
from bot.handlers import router
from bot.payload import parse


def test_trouble_9_what_never_arrived_is_read_back(scene):
    github = scene.github
    github.point_app(scene.app, "http://127.0.0.1:9/webhook", "s3cret")
    first = github.deliver("pull_request", "opened", scene.pull, send=False)
    second = github.deliver("pull_request", "synchronize", scene.pull, send=False)
    guids = [d["guid"] for d in (*first, *second)]
    asked: list[str] = []

    def known(some):
        asked.extend(some)
        return {guids[0]}

    found = list(missed(scene.identity.app_api(), known, time.time() - 3600))
    assert set(guids) <= set(asked)
    assert [d.guid for d in found] == [guids[1]]
    body = json.loads(found[0].body)
    assert (body["action"], body["repository"]["full_name"]) == (
        "synchronize",
        scene.ref.repository,
    )
    headers = found[0].signed(b"s3cret")
    assert headers["X-GitHub-Event"] == "pull_request"
    digest = hmac.new(b"s3cret", found[0].body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] == f"sha256={digest}"
    assert list(missed(scene.identity.app_api(), lambda some: set(some), 0)) == []
    assert list(missed(scene.identity.app_api(), lambda some: set(), time.time() + 60)) == []


def routed(delivery):
    return router().route(delivery.headers["X-GitHub-Event"], parse(delivery.body), Context())


def actions(deliveries):
    told = [d for d in deliveries if d.headers["X-GitHub-Event"] == "pull_request"]
    return [json.loads(d.body)["action"] for d in told]


def _now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def test_polls_tell_of_pushes_comments_and_closings(scene, person):
    api = person.api(scene.ref)
    repo = scene.ref.repository
    first, state = poll(api, repo, PollState())
    assert [json.loads(d.body)["action"] for d in first] == ["opened"]
    assert routed(first[0]).actions
    again, same = poll(api, repo, state)
    assert again == []
    assert same.heads == {1: scene.pull.head_sha}
    scene.github.push(repo, "change", {"src/b.py": "b = 1\n"})
    scene.github.comment(scene.pull, "/marginalia review")
    scene.github.review_comment(scene.pull, "/marginalia help", path="src/a.py", line=10)
    told, state = poll(api, repo, PollState("2020-01-01T00:00:00Z", state.heads))
    events = [d.headers["X-GitHub-Event"] for d in told]
    assert events == ["pull_request", "issue_comment", "pull_request_review_comment"]
    assert all(routed(d).actions for d in told)
    assert len({d.guid for d in told}) == 3
    repeated, _ = poll(api, repo, PollState("2020-01-01T00:00:00Z", same.heads))
    assert [d.guid for d in repeated] == [d.guid for d in told]
    scene.github.act(scene.pull, "draft")
    drafted, state = poll(api, repo, state)
    assert actions(drafted) == ["converted_to_draft"]
    scene.github.act(scene.pull, "ready")
    readied, state = poll(api, repo, state, 77)
    assert actions(readied) == ["ready_for_review"]
    assert json.loads(readied[0].body)["installation"] == {"id": 77}, "as an App's deliveries do"
    scene.github.push(repo, "next", {"c.py": "c = 1\n"})
    scene.github.act(scene.pull, "edit", base="next")
    moved, state = poll(api, repo, state)
    assert actions(moved) == ["edited"]
    assert all(routed(d).actions for d in (*drafted, *readied, *moved))
    scene.github.act(scene.pull, "close")
    closed, state = poll(api, repo, state)
    assert [json.loads(d.body)["action"] for d in closed if b"closed" in d.body] == ["closed"]
    assert state.heads == {}
    time.sleep(1.1)  # GitHub's moments are whole seconds: the next one is after the last poll's
    scene.github.act(scene.pull, "reopen")
    opened, _ = poll(api, repo, PollState(_now(), state.heads))
    assert actions(opened) == ["reopened"]
