"""Deliveries: who gets them, how they are signed, what is in them, and sending them again."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema  # type: ignore[import-untyped]
import pytest
import requests

from tests.github_double import examples, prism
from tests.github_double.asking import Asker, app_jwt, bot
from tests.github_double.client import Double
from tests.github_double.fixtures import HookServer, Scene

needs_packages = pytest.mark.skipif(
    not prism.DESCRIPTION.is_file(), reason=f"webhook examples: {prism.missing()}"
)


@pytest.fixture
def listening(scene: Scene, hook: HookServer) -> Scene:
    scene.github.point_app(scene.app, hook.url)
    return scene


def test_a_delivery_is_signed_and_names_its_hook(listening: Scene, hook: HookServer) -> None:
    (made,) = listening.github.deliver("pull_request", "opened", listening.pull)
    assert (made["status_code"], made["status"]) == (202, "OK")
    (got,) = hook.received
    key = listening.app.webhook_secret.encode()
    expected = hmac.new(key, got.body, hashlib.sha256).hexdigest()
    assert got.headers["X-Hub-Signature-256"] == f"sha256={expected}"
    assert got.headers["X-GitHub-Event"] == "pull_request"
    assert got.headers["X-GitHub-Delivery"] == made["guid"]
    assert got.headers["X-GitHub-Hook-ID"] == str(listening.app.hook_id)
    assert got.headers["X-GitHub-Hook-Installation-Target-Type"] == "integration"
    assert got.headers["X-GitHub-Hook-Installation-Target-ID"] == str(listening.app.id)
    body = json.loads(got.body)
    assert body["installation"]["id"] == listening.installation
    assert body["pull_request"]["head"]["sha"] == listening.pull.head_sha
    assert body["organization"]["login"] == "acme"
    assert "api.github.com" not in got.body.decode()


def test_trouble_8_all_hooks_of_an_event_have_one_guid(listening: Scene, hook: HookServer) -> None:
    listening.github.add_hook(listening.repo, hook.url, "", content_type="form")
    made = listening.github.deliver("pull_request", "synchronize", listening.pull)
    assert len({d["id"] for d in made}) == 2
    assert len({d["guid"] for d in made}) == 1
    unsigned, form = next(
        (r.headers, r.body) for r in hook.received if "X-Hub-Signature-256" not in r.headers
    )
    assert unsigned["X-GitHub-Hook-Installation-Target-Type"] == "repository"
    (text,) = parse_qs(form.decode())["payload"]
    assert json.loads(text)["action"] == "synchronize"


def test_a_redelivery_keeps_its_guid(listening: Scene, hook: HookServer) -> None:
    hook.status = 500
    (made,) = listening.github.deliver("pull_request", "opened", listening.pull)
    assert made["status"] == "Invalid HTTP Response: 500"
    hook.status = 202
    again = listening.github.redeliver(made["id"])
    assert (again["guid"], again["redelivery"], again["status_code"]) == (made["guid"], True, 202)
    first, second = hook.received
    assert first.body == second.body


def test_trouble_9_missed_deliveries_are_in_the_list(listening: Scene, hook: HookServer) -> None:
    github = listening.github
    for _ in range(5):
        github.deliver("pull_request", "opened", listening.pull, send=False)
    github.deliver("pull_request", "closed", listening.pull)
    ask = Asker(github.url, app_jwt(listening.app))
    seen: list[dict[str, Any]] = []
    url = "/app/hook/deliveries?per_page=2"
    while url:
        got = ask("GET", url)
        seen += got.json()
        following = got.links.get("next", {}).get("url", "")
        url = following.removeprefix(github.url)
    assert [d["status_code"] for d in seen] == [202, 502, 502, 502, 502, 502]
    failed = ask("GET", "/app/hook/deliveries?status=failure").json()
    assert len(failed) == 5
    assert ask("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts").status_code == 202
    deadline = time.monotonic() + 300
    while len(hook.received) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hook.received[1].headers["X-GitHub-Delivery"] == failed[0]["guid"]


def test_what_happens_is_delivered_by_itself_if_so_set(listening: Scene, hook: HookServer) -> None:
    listening.github.settings(auto_deliver=True)
    listening.github.push(listening.repo, "change", {"calc.py": "print(1)\n"})
    bot(listening)(
        "POST",
        "/repos/acme/web/pulls/1/reviews",
        {"body": "b", "event": "COMMENT", "comments": []},
    )
    deadline = time.monotonic() + 300
    while len(hook.received) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    bodies = [json.loads(r.body) for r in hook.received]
    assert [b["action"] for b in bodies] == ["synchronize", "submitted"]
    assert bodies[0]["before"] == listening.pull.head_sha
    assert bodies[1]["sender"]["type"] == "Bot"


def _review(scene: Scene) -> dict[str, Any]:
    comment = {"path": "calc.py", "line": 10, "side": "RIGHT", "body": "Why?"}
    return scene.github.review(scene.pull, event="COMMENT", body="b", comments=[comment])


def _about_comment(scene: Scene) -> dict[str, Any]:
    return {"comment_id": scene.github.comment(scene.pull, "/marginalia review")["id"]}


def _about_line(scene: Scene) -> dict[str, Any]:
    return {"comment_id": _review(scene)["comments"][0]["id"]}


def _about_review(scene: Scene) -> dict[str, Any]:
    return {"review_id": _review(scene)["id"]}


def _about_thread(scene: Scene) -> dict[str, Any]:
    return {"thread_of": _review(scene)["comments"][0]["id"]}


def _about_check(scene: Scene) -> dict[str, Any]:
    made = bot(scene)(
        "POST",
        "/repos/acme/web/check-runs",
        {
            "name": "Marginalia",
            "head_sha": scene.pull.head_sha,
            "actions": [{"label": "Again", "description": "Review again", "identifier": "again"}],
        },
    )
    return {"check_run_id": made.json()["id"], "repo": scene.repo}


def _about_installation(scene: Scene) -> dict[str, Any]:
    return {"installation_id": scene.installation, "extra": {"repositories": [scene.repo]}}


def _about_repositories(scene: Scene) -> dict[str, Any]:
    return {
        "installation_id": scene.installation,
        "extra": {
            "repositories_added": [scene.repo],
            "repositories_removed": [],
            "repository_selection": "selected",
            "requester": None,
        },
    }


def _about_pull(scene: Scene) -> dict[str, Any]:
    return {"pull": scene.pull}


PULL_ACTIONS = (
    "opened",
    "synchronize",
    "reopened",
    "ready_for_review",
    "edited",
    "closed",
    "labeled",
    "unlabeled",
    "converted_to_draft",
)
EVENTS: list[tuple[str, str, Callable[[Scene], dict[str, Any]]]] = [
    *(("pull_request", action, _about_pull) for action in PULL_ACTIONS),
    *(("issue_comment", action, _about_comment) for action in ("created", "edited", "deleted")),
    ("pull_request_review", "submitted", _about_review),
    *(
        ("pull_request_review_comment", action, _about_line)
        for action in ("created", "edited", "deleted")
    ),
    ("pull_request_review_thread", "resolved", _about_thread),
    ("pull_request_review_thread", "unresolved", _about_thread),
    ("check_run", "rerequested", _about_check),
    ("check_run", "requested_action", _about_check),
    *(
        ("installation", action, _about_installation)
        for action in ("created", "deleted", "suspend", "unsuspend")
    ),
    ("installation_repositories", "added", _about_repositories),
    ("installation_repositories", "removed", _about_repositories),
]


@needs_packages
@pytest.mark.parametrize(("event", "action", "about"), EVENTS)
def test_a_payload_is_as_github_describes_it(
    listening: Scene,
    event: str,
    action: str,
    about: Callable[[Scene], dict[str, Any]],
) -> None:
    made = listening.github.deliver(event, action, send=False, **about(listening))
    assert made, "no hook heard of it"
    body = listening.github.delivery(made[0]["id"])["request"]["payload"]
    assert (body["action"], body["sender"]["login"]) == (action, "alice")
    assert "github.com" not in json.dumps({k: v for k, v in body.items() if k != "installation"})
    checker = _schemas().get(f"{event.replace('_', '-')}-{action.replace('_', '-')}")
    assert checker is not None
    problems = [
        f"{'.'.join(map(str, e.absolute_path))}: {e.message[-200:]}"
        for e in checker.iter_errors(body)
    ]
    assert problems == []


_CHECKERS: dict[str, jsonschema.Draft7Validator] = {}


def _schemas() -> dict[str, jsonschema.Draft7Validator]:
    if not _CHECKERS:
        whole = json.loads(prism.DESCRIPTION.read_text("utf-8"))
        for name, hook in whole["x-webhooks"].items():
            content = hook["post"]["requestBody"]["content"]["application/json"]["schema"]
            _CHECKERS[name] = jsonschema.Draft7Validator(
                {**_nullable(content), "components": _LazyComponents.of(whole)}
            )
    return _CHECKERS


class _LazyComponents:
    """The description's components, turned into plain JSON schema once."""

    _done: dict[str, Any] | None = None

    @classmethod
    def of(cls, whole: dict[str, Any]) -> dict[str, Any]:
        if cls._done is None:
            cls._done = {"schemas": _nullable(whole["components"]["schemas"])}
        return cls._done


def _nullable(value: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` in the words of JSON schema."""
    if isinstance(value, list):
        return [_nullable(v) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: _nullable(v) for k, v in value.items() if k not in ("nullable", "example")}
    return {"anyOf": [{"type": "null"}, out]} if value.get("nullable") is True else out


@needs_packages
def test_there_are_329_examples_of_58_events() -> None:
    every = examples.every_example()
    assert len(every) == 329
    assert len({event for event, _ in every}) == 58


def test_an_app_is_made_by_a_manifest(github: Double) -> None:
    manifest = {
        "name": "My reviewer",
        "url": "http://example.test",
        "redirect_url": "http://x.test/done",
        "hook_attributes": {"url": "http://x.test/webhook"},
        "default_permissions": {"contents": "read", "pull_requests": "write"},
        "default_events": ["pull_request"],
    }
    got = requests.post(
        f"{github.url}/settings/apps/new?state=s1",
        data={"manifest": json.dumps(manifest)},
        allow_redirects=False,
        timeout=300,
    )
    assert got.status_code == 302
    target = urlsplit(got.headers["Location"])
    query = parse_qs(target.query)
    assert (target.netloc, query["state"]) == ("x.test", ["s1"])
    at = f"/app-manifests/{query['code'][0]}/conversions"
    made = Asker(github.url)("POST", at)
    assert made.status_code == 201
    keys = made.json()
    assert (keys["slug"], keys["events"]) == ("my-reviewer", ["pull_request"])
    assert Asker(github.url)("POST", at).status_code == 404, "a code works once"


def test_consent_by_oauth(scene: Scene) -> None:
    github, app = scene.github, scene.app
    got = requests.get(
        f"{github.url}/login/oauth/authorize",
        params={"client_id": app.client_id, "redirect_uri": "http://x.test/cb", "state": "s"},
        allow_redirects=False,
        timeout=300,
    )
    code = parse_qs(urlsplit(got.headers["Location"]).query)["code"][0]
    data = {"client_id": app.client_id, "client_secret": app.client_secret, "code": code}
    token = Asker(github.url)(
        "POST", "/login/oauth/access_token", data, Accept="application/json"
    ).json()["access_token"]
    assert Asker(github.url, token)("GET", "/user").json()["login"] == "alice"
