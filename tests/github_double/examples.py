"""Payloads of @octokit/webhooks-examples, re-pointed at the double's own records."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from tests.github_double import render, render_pull
from tests.github_double.records import (
    Account,
    App,
    CheckRun,
    Hook,
    Installation,
    IssueComment,
    Pull,
    Repo,
    Review,
    ReviewComment,
    Thread,
    node_id,
)

Json = dict[str, Any]
NODE_MODULES = Path(__file__).parent / "node_modules"
_INDEX = NODE_MODULES / "@octokit" / "webhooks-examples" / "api.github.com" / "index.json"

Subject = (
    Pull | Review | ReviewComment | IssueComment | Thread | CheckRun | Installation | Repo | Hook
)


@cache
def _events() -> dict[str, list[Json]]:
    if not _INDEX.is_file():
        return {}
    rows = json.loads(_INDEX.read_text("utf-8"))
    return {row["name"]: row["examples"] for row in rows}


def example(event: str, action: str | None) -> Json:
    """The recorded payload that is richest in context; ``{}`` where the package is not there.

    Of an action without an example, another action's payload is taken.
    """
    found = [e for e in _events().get(event, []) if action is None or e.get("action") == action]
    found = found or _events().get(event, [])
    if not found:
        return {}
    return copy.deepcopy(max(found, key=lambda e: ("installation" in e, "organization" in e)))


def every_example() -> list[tuple[str, Json]]:
    """All (event, payload) pairs of the package, 329 of them; empty where it is not there."""
    return [(event, copy.deepcopy(e)) for event, all_ in _events().items() for e in all_]


def payload(
    root: str,
    event: str,
    action: str | None,
    subject: Subject,
    sender: Account,
    installation: Installation | None,
    extra: Json | None = None,
) -> Json:
    """One delivery's body about a record of the double.

    What the double knows takes the place of the recorded values; what it does not know stays as
    recorded, with its addresses turned to the double. ``extra`` has the last word.
    """
    recorded = example(event, action)
    repo = _repo_of(subject)
    old_name = (recorded.get("repository") or {}).get("full_name", "")
    out: Json = _repoint(recorded, root, old_name, repo.full_name if repo else old_name)
    if action is not None:
        out["action"] = action
    for name, value in _parts(root, event, action, subject).items():
        old = out.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        out[name] = {**old, **value} if both and isinstance(old, dict) else value
    out["sender"] = render.user(root, sender)
    if repo is not None:
        out["repository"] = {**out.get("repository", {}), **render.repo(root, repo)}
        owner = repo.owner
        out.pop("organization", None)
        if owner.type == "Organization":
            out["organization"] = render.organization(root, owner)
    if not isinstance(subject, Installation):
        out.pop("installation", None)
        if installation is not None:
            out["installation"] = {
                "id": installation.id,
                "node_id": node_id("MDIz", installation.id),
            }
    if action == "edited":
        out.setdefault("changes", {})
    return {**out, **(extra or {})}


def _repo_of(subject: Subject) -> Repo | None:
    if isinstance(subject, Repo):
        return subject
    pull = pull_of(subject)
    if pull is not None:
        return pull.repo
    return subject.repo if isinstance(subject, CheckRun) else None


def pull_of(subject: Subject) -> Pull | None:
    """The pull request that a record belongs to."""
    if isinstance(subject, Pull):
        return subject
    if isinstance(subject, Review | IssueComment | Thread):
        return subject.pull
    if isinstance(subject, ReviewComment):
        return subject.thread.pull
    return None


def _parts(root: str, event: str, action: str | None, subject: Subject) -> Json:
    if isinstance(subject, Pull):
        return {"number": subject.number, "pull_request": render_pull.pull_full(root, subject)}
    if isinstance(subject, Review):
        shown = render_pull.review(root, subject)
        shown["state"] = subject.state.lower()
        return {"review": shown, "pull_request": render_pull.pull_simple(root, subject.pull)}
    if isinstance(subject, ReviewComment):
        return {
            "comment": render_pull.review_comment(root, subject),
            "pull_request": render_pull.pull_simple(root, subject.thread.pull),
        }
    if isinstance(subject, Thread):
        comments = [render_pull.review_comment(root, c) for c in subject.comments]
        return {
            "thread": {"node_id": node_id("PRRT", subject.id), "comments": comments},
            "pull_request": render_pull.pull_simple(root, subject.pull),
        }
    if isinstance(subject, IssueComment):
        return {
            "comment": render_pull.issue_comment(root, subject),
            "issue": render_pull.issue(root, subject.pull),
        }
    if isinstance(subject, CheckRun):
        out: Json = {"check_run": render_pull.check_run(root, subject)}
        if action == "requested_action" and subject.actions:
            out["requested_action"] = {"identifier": subject.actions[0]["identifier"]}
        return out
    if isinstance(subject, Installation):
        return {"installation": render.installation(root, subject)}
    if isinstance(subject, Hook):
        return {"hook_id": subject.id, "zen": "Keep it logically awesome."}
    return {}


def short_repo(record: Repo) -> Json:
    """A repository as the installation events name it."""
    return {
        "id": record.id,
        "node_id": node_id("R", record.id),
        "name": record.name,
        "full_name": record.full_name,
        "private": record.private,
    }


def _repoint(value: Any, root: str, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {k: _repoint(v, root, old, new) for k, v in value.items()}
    if isinstance(value, list):
        return [_repoint(v, root, old, new) for v in value]
    if not isinstance(value, str) or "github.com" not in value:
        return value
    text = value.replace("https://api.github.com", root)
    text = re.sub(r"(https|git)://github\.com", render.web_root(root), text)
    return text.replace(f"/{old}", f"/{new}") if old else text


def ping(root: str, app: App) -> Json:
    """The first delivery of an App's webhook."""
    out: Json = _repoint(example("ping", None), root, "", "")
    out.pop("repository", None)
    out["hook_id"] = app.hook.id
    out["hook"] = {
        **out.get("hook", {}),
        "type": "App",
        "id": app.hook.id,
        "app_id": app.id,
        "events": app.events,
        "active": True,
        "config": render.hook_config(app.hook),
    }
    out["zen"] = out.get("zen", "Keep it logically awesome.")
    return out
