"""Deliveries: made, signed, sent, recorded, sent again."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
import uuid
from typing import Any
from urllib.parse import urlencode

import requests

from tests.github_double import examples, render
from tests.github_double.examples import Subject, pull_of
from tests.github_double.records import Account, Delivery, Hook, Installation, Repo, now
from tests.github_double.world import World

TIMEOUT_SECONDS = 10.0
"""GitHub gives a webhook ten seconds to answer."""


def targets(world: World, subject: Subject, event: str) -> list[tuple[Hook, Installation | None]]:
    """The hooks that hear of an event about a record, with the installation if an App's."""
    if isinstance(subject, Installation):
        return [(subject.app.hook, subject)]
    if isinstance(subject, Hook):
        return [(subject, None)]
    pull = pull_of(subject)
    repo = pull.repo if pull else subject if isinstance(subject, Repo) else None
    if repo is None:
        check = subject
        repo = check.repo if hasattr(check, "repo") else None
        if repo is None:
            return []
    found = world.hooks_of(repo)
    return [(h, i) for h, i in found if h.url and ("*" in h.events or event in h.events)]


def prepare(
    world: World,
    event: str,
    action: str | None,
    subject: Subject,
    sender: Account,
    *,
    guid: str | None = None,
    extra: dict[str, Any] | None = None,
) -> list[Delivery]:
    """One delivery a hook, all with one GUID, recorded and not yet sent."""
    shared = guid or str(uuid.uuid4())
    out = []
    pull = pull_of(subject)
    repo = pull.repo if pull else subject if isinstance(subject, Repo) else None
    for hook, installation in targets(world, subject, event):
        body = examples.payload(world.root, event, action, subject, sender, installation, extra)
        out.append(
            record(
                world,
                hook,
                event,
                action,
                body,
                shared,
                installation_id=installation.id if installation else None,
                repository_id=repo.id if repo else None,
            )
        )
    return out


def record(
    world: World,
    hook: Hook,
    event: str,
    action: str | None,
    body: dict[str, Any],
    guid: str,
    *,
    installation_id: int | None = None,
    repository_id: int | None = None,
    redelivery: bool = False,
) -> Delivery:
    """Note a delivery in its hook's list; it counts as failed until it was sent."""
    made = Delivery(
        world.next_id(),
        guid,
        hook,
        event,
        action,
        body,
        installation_id,
        repository_id,
        redelivery=redelivery,
        delivered_at=now(),
        status="failed to connect to host",
        status_code=502,
    )
    made.request_headers = headers(hook, event, guid, _encode(hook, body)[0])
    hook.deliveries.append(made)
    return made


def _encode(hook: Hook, body: dict[str, Any]) -> tuple[bytes, str]:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    if hook.content_type == "form":
        return urlencode({"payload": text}).encode(), "application/x-www-form-urlencoded"
    return text.encode(), "application/json"


def headers(hook: Hook, event: str, guid: str, data: bytes) -> dict[str, str]:
    """GitHub's headers of a delivery; signed where the hook has a secret."""
    form = hook.content_type == "form"
    out = {
        "Accept": "*/*",
        "Content-Type": "application/x-www-form-urlencoded" if form else "application/json",
        "User-Agent": "GitHub-Hookshot/double",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": str(hook.id),
        "X-GitHub-Hook-Installation-Target-ID": str(hook.target_id),
        "X-GitHub-Hook-Installation-Target-Type": hook.target_type,
    }
    if hook.secret:
        key = hook.secret.encode()
        out["X-Hub-Signature"] = "sha1=" + hmac.new(key, data, hashlib.sha1).hexdigest()
        out["X-Hub-Signature-256"] = "sha256=" + hmac.new(key, data, hashlib.sha256).hexdigest()
    return out


def send(delivery: Delivery) -> Delivery:
    """Post a delivery and note the answer. Never call it while the world's lock is held."""
    data, _ = _encode(delivery.hook, delivery.payload)
    started = time.monotonic()
    try:
        got = requests.post(
            delivery.hook.url,
            data=data,
            headers=delivery.request_headers,
            timeout=TIMEOUT_SECONDS,
            allow_redirects=False,
        )
    except requests.Timeout:
        delivery.status, delivery.status_code = "timed out", 504
    except requests.RequestException:
        delivery.status, delivery.status_code = "failed to connect to host", 502
    else:
        delivery.status_code = got.status_code
        fine = 200 <= got.status_code < 300
        delivery.status = "OK" if fine else f"Invalid HTTP Response: {got.status_code}"
        delivery.response_headers = dict(got.headers)
        delivery.response_body = got.text[:4096]
    delivery.duration = time.monotonic() - started
    delivery.delivered_at = now()
    return delivery


def again(world: World, old: Delivery) -> Delivery:
    """A redelivery: the same GUID and body under a new id, recorded and not yet sent."""
    return record(
        world,
        old.hook,
        old.event,
        old.action,
        old.payload,
        old.guid,
        installation_id=old.installation_id,
        repository_id=old.repository_id,
        redelivery=True,
    )


def send_later(found: list[Delivery]) -> None:
    """Send deliveries from a thread of their own, in order."""

    def work() -> None:
        for delivery in found:
            send(delivery)

    threading.Thread(target=work, daemon=True).start()


def announce(
    world: World,
    event: str,
    action: str | None,
    subject: Subject,
    sender: Account | None,
    extra: dict[str, Any] | None = None,
) -> None:
    """Tell of something that happened: in the repository's events, and to hooks if so set."""
    actor = sender or world.account("ghost")
    pull = pull_of(subject)
    repo = pull.repo if pull else subject if isinstance(subject, Repo) else None
    if repo is not None:
        repo.events.append(_event(world, event, action, subject, actor, repo))
    if world.auto_deliver:
        send_later(prepare(world, event, action, subject, actor, extra=extra))


_EVENT_TYPES = {
    "pull_request": "PullRequestEvent",
    "issue_comment": "IssueCommentEvent",
    "pull_request_review": "PullRequestReviewEvent",
    "pull_request_review_comment": "PullRequestReviewCommentEvent",
    "push": "PushEvent",
}


def _event(
    world: World, event: str, action: str | None, subject: Subject, actor: Account, repo: Repo
) -> dict[str, Any]:
    root = world.root
    pull = pull_of(subject)
    body: dict[str, Any] = {} if action is None else {"action": action}
    if pull is not None:
        body["number"] = pull.number
    me = render.user(root, actor)
    return {
        "id": str(world.next_id()),
        "type": _EVENT_TYPES.get(event, "Event"),
        "actor": {k: me[k] for k in ("id", "login", "gravatar_id", "url", "avatar_url")},
        "repo": {
            "id": repo.id,
            "name": repo.full_name,
            "url": f"{root}/repos/{repo.full_name}",
        },
        "payload": body,
        "public": not repo.private,
        "created_at": now(),
    }
