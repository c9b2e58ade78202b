"""``Double``: start a double of GitHub and make things happen on it.

All methods go through the double's own HTTP API under ``/_double/``, so whatever a test does here
a person can do with curl.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tests.github_double.file_specs import FileSpec
from tests.github_double.process import AppKeys, DoubleError, Json, Pull, Running, Violations
from tests.github_double.records import Limits

__all__ = ["AppKeys", "Double", "DoubleError", "Pull", "Violations"]


class Double(Running):
    """A running double.

    ``with Double() as github:`` starts one in a process of its own and ends it; ``Double.at(url)``
    speaks to one that runs already. ``judge``: ``auto`` (where Node is), ``always``, ``never``.
    """

    # -- repositories and pull requests ------------------------------------------------------

    def create_repo(
        self,
        full_name: str,
        files: Mapping[str, FileSpec],
        *,
        collaborators: Mapping[str, str] | None = None,
        private: bool = False,
        owner_type: str = "Organization",
    ) -> str:
        """Make a repository with one commit on ``main``; the commit's id.

        ``collaborators`` maps logins to read, triage, write, maintain or admin.
        """
        data = {
            "full_name": full_name,
            "files": _encode(files),
            "private": private,
            "collaborators": dict(collaborators or {}),
            "owner_type": owner_type,
        }
        return str(self.call("POST", "/repos", data)["sha"])

    def repo_id(self, repo: str) -> int:
        """A repository's number."""
        return int(self.call("GET", f"/repos/{repo}")["id"])

    def rename(self, repo: str, name: str) -> str:
        """Rename a repository within its owner; its new full name."""
        return str(self.call("PATCH", f"/repos/{repo}", {"name": name})["full_name"])

    def fork(self, repo: str, owner: str) -> str:
        """Fork a repository; the fork's full name."""
        return str(self.call("POST", f"/repos/{repo}/forks", {"owner": owner})["full_name"])

    def set_permission(self, repo: str, login: str, permission: str) -> None:
        """Give a person a role in a repository."""
        self.call("PUT", f"/repos/{repo}/collaborators/{login}", {"permission": permission})

    def call_person(self, login: str, name: str) -> None:
        """Give a person a display name."""
        self.call("PATCH", f"/accounts/{login}", {"name": name})

    def push(
        self,
        repo: str,
        branch: str,
        files: Mapping[str, FileSpec],
        *,
        message: str = "Change",
        start: str | None = None,
    ) -> str:
        """Commit files on a branch (a new one starts at ``start`` or main); the commit's id.

        Pull requests from the branch follow. ``None`` as a file's content deletes it.
        """
        data = {"branch": branch, "files": _encode(files), "message": message, "start": start}
        return str(self.call("POST", f"/repos/{repo}/commits", data)["sha"])

    def open_pr(
        self,
        repo: str,
        files: Mapping[str, FileSpec] | None = None,
        *,
        head: str = "change",
        base: str | None = None,
        title: str = "A change",
        body: str | None = None,
        author: str = "alice",
        draft: bool = False,
        head_repo: str | None = None,
    ) -> Pull:
        """Open a pull request; with ``files`` its branch is made first, else it must exist."""
        data = {
            "head": head,
            "base": base,
            "title": title,
            "body": body,
            "author": author,
            "draft": draft,
            "head_repo": head_repo,
            "files": None if files is None else _encode(files),
        }
        return Pull(**self.call("POST", f"/repos/{repo}/pulls", data))

    def pull(self, repo: str, number: int) -> Pull:
        """A pull request as it stands now."""
        return Pull(**self.call("GET", f"/repos/{repo}/pulls/{number}"))

    def act(self, pull: Pull, verb: str, **data: Any) -> Pull:
        """Do to a pull request what a person can.

        ``rebase`` onto the base's tip, ``update-branch`` (merge the base in), ``squash`` to one
        commit and force-push, ``force-push`` (``sha``, or ``files`` on the merge base),
        ``merge`` (``method``: merge, squash, rebase), ``close``, ``reopen``, ``draft``,
        ``ready``, ``edit`` (``title``, ``body``, ``base``), ``label`` (``label``, ``remove``).
        """
        if "files" in data:
            data["files"] = _encode(data["files"])
        path = f"/repos/{pull.repo}/pulls/{pull.number}/{verb}"
        return Pull(**self.call("POST", path, data))

    # -- what people say, and what was posted ------------------------------------------------

    def comment(self, pull: Pull, body: str, *, author: str = "alice") -> Json:
        """A comment in the conversation; GitHub's issue-comment."""
        data = {"body": body, "author": author}
        return dict(self.call("POST", f"{_at(pull)}/comments", data))

    def review_comment(self, pull: Pull, body: str, *, author: str = "alice", **at: Any) -> Json:
        """A comment on a line (``path``, ``line``, ``side`` ...) or a reply (``in_reply_to``)."""
        data = {"body": body, "author": author, **at}
        return dict(self.call("POST", f"{_at(pull)}/review-comments", data))

    def review(self, pull: Pull, *, author: str = "alice", **data: Any) -> Json:
        """A person's review (``event``, ``body``, ``comments``); pending without ``event``."""
        return dict(self.call("POST", f"{_at(pull)}/reviews", {"author": author, **data}))

    def reviews(self, pull: Pull, *, author: str | None = None) -> list[Json]:
        """All reviews of a pull request, pending ones too, each with its ``comments``."""
        found: list[Json] = self.call("GET", f"{_at(pull)}/reviews")
        return [r for r in found if author is None or r["user"]["login"] == author]

    def threads(self, pull: Pull) -> list[Json]:
        """All threads with ``resolved``, ``outdated`` and their ``comments``."""
        return list(self.call("GET", f"{_at(pull)}/threads"))

    def comments(self, pull: Pull) -> list[Json]:
        """The comments in the conversation."""
        return list(self.call("GET", f"{_at(pull)}/comments"))

    def checks(self, pull: Pull) -> list[Json]:
        """The check runs of the pull request's repository, with all their annotations."""
        return list(self.call("GET", f"{_at(pull)}/checks"))

    def on_comment(self, comment_id: int, verb: str, **data: Any) -> Json:
        """``resolve``, ``unresolve``, ``delete``, ``edit`` (``body``), ``react`` (``content``),
        ``hide`` (``reason``), ``unhide``.

        ``author`` says who does it.
        """
        return dict(self.call("POST", f"/comments/{comment_id}/{verb}", data))

    # -- Apps and tokens -----------------------------------------------------------------------

    def create_app(
        self,
        name: str = "Marginalia",
        *,
        webhook_url: str = "",
        webhook_secret: str | None = None,
        owner: str = "acme",
        permissions: Mapping[str, str] | None = None,
        events: Sequence[str] | None = None,
    ) -> AppKeys:
        """Register an App; it may read contents and write pull requests and checks by default."""
        data = {
            "name": name,
            "webhook_url": webhook_url,
            "webhook_secret": webhook_secret,
            "owner": owner,
            "permissions": None if permissions is None else dict(permissions),
            "events": None if events is None else list(events),
        }
        return AppKeys(**self.call("POST", "/apps", data))

    def point_app(self, app: AppKeys, webhook_url: str, webhook_secret: str | None = None) -> None:
        """Say where the App's deliveries go, once its server has a port."""
        data = {"webhook_url": webhook_url}
        if webhook_secret is not None:
            data["webhook_secret"] = webhook_secret
        self.call("PATCH", f"/apps/{app.id}", data)

    def install(
        self,
        app: AppKeys,
        account: str = "acme",
        repos: Sequence[str] | None = None,
        *,
        permissions: Mapping[str, str] | None = None,
    ) -> int:
        """Install an App on an account; the installation's id."""
        data = {
            "app_id": app.id,
            "account": account,
            "repos": None if repos is None else list(repos),
            "permissions": dict(permissions or {}),
        }
        return int(self.call("POST", "/installations", data)["id"])

    def change_installation(self, installation: int, **data: Any) -> None:
        """``suspended`` (true or false), ``permissions``, ``repos``."""
        self.call("PATCH", f"/installations/{installation}", data)

    def uninstall(self, installation: int) -> None:
        """Remove an installation; its tokens stop working."""
        self.call("DELETE", f"/installations/{installation}")

    def token(self, login: str = "alice") -> str:
        """A personal access token."""
        return str(self.call("POST", "/tokens", {"login": login})["token"])

    def installation_token(self, installation: int) -> str:
        """A token of an installation."""
        return str(self.call("POST", "/tokens", {"installation_id": installation})["token"])

    def expire_tokens(self) -> int:
        """End all installation tokens now; how many there were."""
        return int(self.call("POST", "/tokens/expire", {})["expired"])

    def add_hook(
        self,
        repo: str,
        url: str,
        secret: str = "",
        *,
        events: Sequence[str] = ("*",),
        content_type: str = "json",
    ) -> int:
        """A repository's own webhook; its id. ``content_type``: json or form."""
        data = {"url": url, "secret": secret, "events": list(events), "content_type": content_type}
        return int(self.call("POST", f"/repos/{repo}/hooks", data)["id"])

    # -- deliveries ------------------------------------------------------------------------------

    def deliver(
        self,
        event: str,
        action: str | None,
        pull: Pull | None = None,
        *,
        repo: str | None = None,
        send: bool = True,
        sender: str = "alice",
        guid: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **about: int,
    ) -> list[Json]:
        """Make the deliveries of an event, one a hook, all with one GUID, and send them.

        What it is about: ``pull``, or by id ``comment_id``, ``review_id``, ``thread_of`` (any of
        the thread's comments), ``check_run_id`` (with ``repo``), ``installation_id``. ``extra``
        is laid over the payload. With ``send=False`` they are missed: in the delivery list only.
        Each has ``id``, ``guid``, ``status_code``, ``response``.
        """
        data: Json = {
            "event": event,
            "action": action,
            "send": send,
            "sender": sender,
            "guid": guid,
            "extra": dict(extra or {}),
            "repo": repo or (pull.repo if pull else None),
            "number": pull.number if pull else None,
            **about,
        }
        return list(self.call("POST", "/deliver", data))

    def redeliver(self, delivery_id: int) -> Json:
        """Send a delivery again: same GUID, same body, new id."""
        return dict(self.call("POST", f"/deliveries/{delivery_id}/again", {}))

    def deliveries(self) -> list[Json]:
        """All deliveries of all hooks, oldest first."""
        return list(self.call("GET", "/deliveries"))

    def delivery(self, delivery_id: int) -> Json:
        """One delivery with its request (headers, payload) and its answer."""
        return dict(self.call("GET", f"/deliveries/{delivery_id}"))

    # -- trouble ---------------------------------------------------------------------------------

    def fault(self, kind: str, method: str = "*", path: str = "*", **settings: Any) -> int:
        """Put a fault rule in force (see ``faults.Fault`` for the kinds); its id."""
        data = {"kind": kind, "method": method, "path": path, **settings}
        return int(self.call("POST", "/faults", data)["id"])

    def fault_hits(self, fault: int, wait: float = 0.0) -> int:
        """How often a rule caught a call; waits up to so many seconds for the first time."""
        return int(self.call("GET", f"/faults/{fault}?wait={wait}")["hits"])

    def release(self, fault: int) -> None:
        """Let go of the calls that a hold keeps."""
        self.call("POST", f"/faults/{fault}/release", {})

    def clear_faults(self) -> None:
        """Forget all rules."""
        self.call("DELETE", "/faults")

    # -- records and settings ----------------------------------------------------------------------

    def settings(self, **changes: Any) -> Json:
        """Change and show settings: ``auto_deliver`` sends what happens to all hooks by itself."""
        return dict(self.call("PATCH", "/settings", changes))

    def limits(self, **changes: int) -> Json:
        """Change and show GitHub's limits (see ``world.Limits``)."""
        return dict(self.call("PATCH", "/limits", changes))

    def reset_limits(self) -> None:
        """Set GitHub's limits back to its own."""
        self.limits(**asdict(Limits()))

    def calls(self, method: str | None = None, path: str = "", *, since: int = 0) -> list[Json]:
        """The recorded API calls, oldest first, by method and by a part of the path."""
        found: list[Json] = self.call("GET", f"/calls?since={since}")
        return [c for c in found if method in (None, c["method"]) and path in c["path"]]

    def violations(self, *, since: int = 0) -> list[Json]:
        """The calls with violations of GitHub's description."""
        return list(self.call("GET", f"/violations?since={since}"))

    def forgive(self) -> list[Json]:
        """Forget the violations so far, for a test that makes them on purpose; what they were."""
        found = self.violations()
        self.call("DELETE", "/violations")
        return found

    def check(self, *, since: int = 0) -> None:
        """Fail with every violation there was; says nothing where calls are not judged."""
        found = self.violations(since=since)
        if found:
            rows = [
                f"{c['method']} {c['path']} -> {c['status']}: {_words(v)}"
                for c in found
                for v in c["violations"]
            ]
            raise Violations("GitHub's description was broken:\n" + "\n".join(rows))

    def wait_for_review(
        self, pull: Pull, *, author: str | None = None, count: int = 1, seconds: float = 60.0
    ) -> list[Json]:
        """Wait until so many submitted reviews of the pull request are there; all of them."""
        deadline = time.monotonic() + seconds
        while True:
            found = [r for r in self.reviews(pull, author=author) if r["state"] != "PENDING"]
            if len(found) >= count:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{len(found)} of {count} reviews on {pull.repo}#{pull.number} "
                    f"after {seconds:g} s"
                )
            time.sleep(0.1)


def _at(pull: Pull) -> str:
    return f"/repos/{pull.repo}/pulls/{pull.number}"


def _words(violation: Json) -> str:
    where = ".".join(str(part) for part in violation.get("location", []))
    return f"{where} {violation.get('message', '')}".strip()


def _encode(files: Mapping[str, FileSpec]) -> Json:
    out: Json = {}
    for path, spec in files.items():
        if isinstance(spec, bytes):
            out[path] = {"base64": base64.b64encode(spec).decode()}
        else:
            out[path] = dict(spec) if isinstance(spec, Mapping) else spec
    return out
