"""Deliveries that never arrived, read back from GitHub.

GitHub does not deliver again by itself, whatever was answered. An App can read its hook's list of
the last days; what the ledger does not know is taken in through the same door as the rest: the
body is signed with our own secret and given to the webhook. Where nothing can reach this machine
from outside, pull requests and comments are polled and told as deliveries too.
"""

from __future__ import annotations

import calendar
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from bot.github import requests as rq
from bot.github.client import Api
from bot.github.errors import Answered

MOST_MISSED = 5_000
"""Deliveries looked at in one pass."""
_BEGINNING = "1970-01-01T00:00:00Z"
"""Where a repository without pull requests was polled: all that is said there later is new."""
_EVENT = "X-GitHub-Event"
_GUID = "X-GitHub-Delivery"

Known = Callable[[Sequence[str]], Set[str]]
"""Which of these GUIDs the ledger has."""


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """A delivery as the webhook would get it: headers and body, not yet signed."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def guid(self) -> str:
        """The delivery's GUID."""
        return self.headers.get(_GUID, "")

    def signed(self, secret: bytes) -> dict[str, str]:
        """The headers with the signature that the webhook asks for."""
        digest = hmac.new(secret, self.body, hashlib.sha256).hexdigest()
        return {**self.headers, "X-Hub-Signature-256": f"sha256={digest}"}


def missed(api: Api, known: Known, since: float) -> Iterator[StoredDelivery]:
    """What GitHub delivered since a moment (seconds since the epoch) and ``known`` lacks.

    ``api`` is the App's own (``AppIdentity.app_api``). Oldest first, each GUID once; a delivery
    that GitHub no longer keeps is passed over.
    """
    lost: dict[str, int] = {}
    for page in _pages(api, since):
        guids = {str(row["guid"]): int(row["id"]) for row in page}
        unknown = guids.keys() - known(sorted(guids))
        lost.update({guid: number for guid, number in guids.items() if guid in unknown})
    for number in reversed(lost.values()):
        try:
            data = api.data(rq.get(f"/app/hook/deliveries/{number}"))
        except Answered:
            continue
        found = _stored(data)
        if found is not None:
            yield found


def _pages(api: Api, since: float) -> Iterator[list[dict[str, Any]]]:
    seen = 0
    for page in api.pages(rq.listing("/app/hook/deliveries")):
        recent = [row for row in page if _moment(str(row.get("delivered_at"))) >= since]
        seen += len(page)
        if recent:
            yield recent
        if len(recent) < len(page) or seen >= MOST_MISSED:
            return


def _stored(data: Any) -> StoredDelivery | None:
    request = data.get("request") if isinstance(data, dict) else None
    if not isinstance(request, dict) or not isinstance(request.get("payload"), dict):
        return None
    headers = {
        str(name): str(value)
        for name, value in (request.get("headers") or {}).items()
        if not str(name).lower().startswith(("x-hub-signature", "content-"))
    }
    names = {name.lower() for name in headers}
    headers |= {} if _EVENT.lower() in names else {_EVENT: str(data["event"])}
    headers |= {} if _GUID.lower() in names else {_GUID: str(data["guid"])}
    return _delivery(headers, request["payload"])


def _delivery(headers: Mapping[str, str], payload: Mapping[str, Any]) -> StoredDelivery:
    body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    return StoredDelivery({**headers, "Content-Type": "application/json"}, body)


_Told = tuple[str, str, Mapping[str, Any]]
"""What a poll saw: the event, what its GUID is made of, the payload."""


@dataclass(frozen=True, slots=True)
class PollState:
    """What one repository's last poll saw: heads of open pull requests, and the newest moment.

    ``since`` is in GitHub's own form (2026-01-31T12:00:00Z) and by GitHub's own clock, as the next
    request wants it: by ours, what was said while the two differ would be lost. ``marks`` says of
    each whether it is a draft and where it goes (``draft main``).
    """

    since: str = ""
    heads: Mapping[int, str] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)


def poll(
    api: Api, repository: str, state: PollState, installation: int | None = None
) -> tuple[list[StoredDelivery], PollState]:
    """What happened in a repository since ``state``, as deliveries, and the next state.

    New heads, drafts, bases and closings of pull requests, and comments that may hold commands.
    Each has a GUID
    made of what it is about: what a poll tells again (after a crash, or because it fell into the
    second in which the last one ended) is known by it.
    The first poll (an empty state) tells of every open pull request and of no comment. An App
    gives its ``installation``: each delivery names it, as GitHub's do.
    """
    told, after = _poll(api, repository, state)
    more = {} if installation is None else {"installation": {"id": installation}}
    return [_told(event, what, {**payload, **more}) for event, what, payload in told], after


def _poll(api: Api, repository: str, state: PollState) -> tuple[list[_Told], PollState]:
    path = rq.repository(repository)
    rows = list(api.items(rq.listing(f"{path}/pulls", state="open", sort="updated")))
    heads = {int(row["number"]): str(row["head"]["sha"]) for row in rows}
    marks = {int(row["number"]): _mark(row) for row in rows}
    since = max([state.since, *(str(row.get("updated_at") or "") for row in rows)])
    if not rows and not state.heads:
        return [], PollState(since or _BEGINNING)
    info = rows[0]["base"]["repo"] if rows else api.data(rq.get(path))
    repo = {"id": info["id"], "full_name": info["full_name"], "name": info["name"],
            "owner": {"login": info["owner"]["login"]}}  # fmt: skip
    found: list[_Told] = [
        (
            "pull_request",
            _about(repo, row, action),
            {
                "action": action,
                "changes": {"base": {}} if action == "edited" else {},
                "number": row["number"],
                "pull_request": row,
                "repository": repo,
                "sender": row.get("user"),
            },
        )
        for row in rows
        if (action := _happened(row, state))
    ]
    for number in sorted(state.heads.keys() - heads.keys()):
        pull = api.data(rq.pull(repository, number))
        what = f"{repo['id']}-{number}-closed-{pull.get('closed_at')}"
        found.append(
            ("pull_request", what, {"action": "closed", "number": number,
                  "pull_request": pull, "repository": repo, "sender": pull.get("user")})
        )  # fmt: skip
    if state.since:
        for row in rows:
            if str(row.get("updated_at")) >= state.since:
                found += _comments(api, repo, int(row["number"]), state.since)
    return found, PollState(since or _BEGINNING, heads, marks)


def _mark(row: Mapping[str, Any]) -> str:
    return f"{'draft' if row.get('draft') else 'ready'} {row['base']['ref']}"


def _happened(row: Mapping[str, Any], state: PollState) -> str:
    """What an open pull request's delivery would have told since the last poll; "" for nothing."""
    number, mark = int(row["number"]), _mark(row)
    if number not in state.heads:
        old = state.since and str(row.get("created_at") or "") < state.since
        return "reopened" if old else "opened"
    if state.heads[number] != row["head"]["sha"]:
        return "synchronize"
    before = state.marks.get(number, mark)
    if before == mark:
        return ""
    if before.split()[0] != mark.split()[0]:
        return "converted_to_draft" if row.get("draft") else "ready_for_review"
    return "edited"


def _about(repo: Mapping[str, Any], row: Mapping[str, Any], action: str) -> str:
    """What names the delivery: the head, and the moment of what can happen to one head twice."""
    what = f"{repo['id']}-{row['number']}-{row['head']['sha']}"
    if action in ("opened", "synchronize"):
        return f"{what}-{int(bool(row.get('draft')))}"
    return f"{what}-{action}-{row.get('updated_at')}"


def _comments(api: Api, repo: Mapping[str, Any], number: int, since: str) -> Iterator[_Told]:
    """The comments on one pull request since a moment; ``since`` takes edited ones in too."""
    path, told = rq.repository(str(repo["full_name"])), {"action": "created", "repository": repo}
    for row in api.items(rq.listing(f"{path}/issues/{number}/comments", since=since)):
        issue = {"number": number, "pull_request": {"url": row["issue_url"]}}
        payload = {**told, "issue": issue, "comment": row}
        yield "issue_comment", f"{repo['id']}-comment-{row['id']}", payload
    for row in api.items(rq.listing(f"{path}/pulls/{number}/comments", since=since)):
        payload = {**told, "pull_request": {"number": number}, "comment": row}
        what = f"{repo['id']}-review-comment-{row['id']}"
        yield "pull_request_review_comment", what, payload


def _told(event: str, what: str, payload: Mapping[str, Any]) -> StoredDelivery:
    repository = payload["repository"]["id"]
    headers = {
        _EVENT: event,
        _GUID: f"poll-{what}",
        "X-GitHub-Hook-Installation-Target-Type": "repository",
        "X-GitHub-Hook-Installation-Target-ID": str(repository),
    }
    return _delivery(headers, payload)


def _moment(text: str) -> float:
    """GitHub's time as seconds since the epoch; 0 for what is none."""
    try:
        return float(calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return 0.0
