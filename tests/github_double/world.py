"""What the double knows: accounts, repositories, pull requests, reviews, Apps, tokens.

Plain records in memory with real git beside them. All of it is guarded by one lock, taken once
for a request.
"""

from __future__ import annotations

import base64
import itertools
import secrets
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github_double.git_store import GitRepo

Permission = Literal["read", "write", "admin"]

FIRST_ID = 3_000_000_000
"""Ids start beyond 32 bits, as GitHub's do by now."""

DEFAULT_PERMISSIONS = {
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
    "metadata": "read",
}


def now() -> str:
    """The present time as GitHub writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True, eq=False)
class Account:
    """A user, an organization or an App's bot."""

    id: int
    login: str
    type: Literal["User", "Organization", "Bot"] = "User"
    created_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class Hook:
    """A place where deliveries go: an App's webhook or a repository's own."""

    id: int
    target_type: Literal["integration", "repository"]
    target_id: int
    url: str
    secret: str
    events: list[str] = field(default_factory=lambda: ["*"])
    content_type: str = "json"
    deliveries: list[Delivery] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Delivery:
    """One attempt to hand a payload to a hook."""

    id: int
    guid: str
    hook: Hook
    event: str
    action: str | None
    payload: dict[str, Any]
    installation_id: int | None
    repository_id: int | None
    redelivery: bool = False
    delivered_at: str = ""
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str = ""


@dataclass(slots=True, eq=False)
class App:
    """A registered GitHub App with its key pair and its bot account."""

    id: int
    slug: str
    name: str
    owner: Account
    bot: Account
    hook: Hook
    client_id: str
    client_secret: str
    pem: str
    public_key: rsa.RSAPublicKey
    permissions: dict[str, str]
    events: list[str]
    created_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class Installation:
    """An App on an account; ``repo_ids`` is ``None`` where it has all repositories."""

    id: int
    app: App
    account: Account
    permissions: dict[str, str]
    repo_ids: set[int] | None = None
    suspended_at: str | None = None
    created_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class Token:
    """A bearer token: a person's or an installation's (then with fewer rights at choice)."""

    value: str
    account: Account
    installation: Installation | None = None
    permissions: dict[str, str] | None = None
    repo_ids: set[int] | None = None
    expires_at: datetime | None = None
    used: int = 0


@dataclass(slots=True, eq=False)
class Repo:
    """A repository: its records here, its objects in git."""

    id: int
    owner: Account
    name: str
    git: GitRepo
    private: bool = False
    default_branch: str = "main"
    parent: Repo | None = None
    collaborators: dict[str, str] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    labels: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    hooks: dict[int, Hook] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    created_at: str = field(default_factory=now)
    pushed_at: str = field(default_factory=now)

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"


@dataclass(slots=True, eq=False)
class Pull:
    """A pull request. ``base_sha`` is the base branch's tip when last looked at, as on GitHub."""

    id: int
    number: int
    repo: Repo
    head_repo: Repo
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    author: Account
    title: str
    body: str | None = None
    draft: bool = False
    state: Literal["open", "closed"] = "open"
    merged_at: str | None = None
    merge_commit_sha: str | None = None
    closed_at: str | None = None
    labels: list[str] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    comments: list[IssueComment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class Review:
    """A review; PENDING until it is submitted, seen by its author alone until then."""

    id: int
    pull: Pull
    author: Account
    body: str
    state: str
    commit_id: str
    submitted_at: str | None = None
    via_app: App | None = None


@dataclass(slots=True, eq=False)
class ReviewComment:
    """A comment on lines of the diff; ``line`` is ``None`` once its code is gone (outdated)."""

    id: int
    thread: Thread
    review: Review
    author: Account
    body: str
    path: str
    side: str
    line: int | None
    original_line: int | None
    commit_id: str
    original_commit_id: str
    diff_hunk: str
    position: int | None
    original_position: int
    start_line: int | None = None
    original_start_line: int | None = None
    start_side: str | None = None
    subject_type: str = "line"
    in_reply_to: int | None = None
    reactions: list[Reaction] = field(default_factory=list)
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation on some lines: its first comment and the replies."""

    id: int
    pull: Pull
    comments: list[ReviewComment] = field(default_factory=list)
    resolved_by: Account | None = None


@dataclass(slots=True, eq=False)
class IssueComment:
    """A comment under a pull request's conversation."""

    id: int
    pull: Pull
    author: Account
    body: str
    via_app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class Reaction:
    """One person's emoji."""

    id: int
    account: Account
    content: str
    created_at: str = field(default_factory=now)


@dataclass(slots=True, eq=False)
class CheckRun:
    """A check run of an App on a commit."""

    id: int
    repo: Repo
    app: App
    name: str
    head_sha: str
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    details_url: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Limits:
    """GitHub's bounds; a test may shrink them instead of making huge pull requests."""

    diff_files: int = 300
    diff_lines: int = 20_000
    diff_bytes: int = 1_000_000
    file_diff_bytes: int = 500_000
    listed_files: int = 3_000
    page_patch_lines: int = 20_000
    body_characters: int = 65_536
    annotations: int = 50
    contents_bytes: int = 1_000_000
    hourly_requests: int = 5_000
    content_a_minute: int = 0  # 0: no secondary limit on its own, only on demand
    token_seconds: int = 3_600


class World:
    """Everything, with the lookups that the handlers share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.limits = Limits()
        self.root = "http://127.0.0.1"
        self.auto_deliver = False
        self._ids = itertools.count(FIRST_ID)
        self.accounts: dict[str, Account] = {}
        self.repos: dict[str, Repo] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.manifest_codes: dict[str, App] = {}
        self.oauth_codes: dict[str, tuple[App, Account]] = {}
        self.content_times: dict[str, list[float]] = {}

    def next_id(self) -> int:
        """A new id; ids grow with time, whatever they name."""
        return next(self._ids)

    def account(self, login: str, kind: Literal["User", "Organization", "Bot"] = "User") -> Account:
        """The account of this name, made on first mention."""
        found = self.accounts.get(login.lower())
        if found is None:
            found = self.accounts[login.lower()] = Account(self.next_id(), login, kind)
        return found

    def create_repo(
        self, full_name: str, *, private: bool = False, owner_type: str = "Organization"
    ) -> Repo:
        """A new empty repository; the owner is made on first mention."""
        owner, name = full_name.split("/")
        account = self.account(owner, "User" if owner_type == "User" else "Organization")
        git = GitRepo.create(self.folder / "git" / owner / f"{name}.git")
        repo = Repo(self.next_id(), account, name, git, private=private)
        self.repos[full_name.lower()] = repo
        return repo

    def fork_repo(self, parent: Repo, owner: str) -> Repo:
        """A copy of a repository under another owner."""
        git = parent.git.fork(self.folder / "git" / owner / f"{parent.name}.git")
        repo = Repo(
            self.next_id(),
            self.account(owner),
            parent.name,
            git,
            private=parent.private,
            default_branch=parent.default_branch,
            parent=parent,
        )
        self.repos[repo.full_name.lower()] = repo
        return repo

    def create_app(
        self,
        name: str,
        *,
        owner: str = "acme",
        hook_url: str = "",
        hook_secret: str | None = None,
        permissions: dict[str, str] | None = None,
        events: list[str] | None = None,
    ) -> App:
        """Register an App; its key pair is made here."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ).decode()
        app_id = self.next_id()
        slug = "-".join(name.lower().split())
        secret = secrets.token_hex(20) if hook_secret is None else hook_secret
        chosen = ["*"] if events is None else events
        app = App(
            id=app_id,
            slug=slug,
            name=name,
            owner=self.account(owner, "Organization"),
            bot=self.account(f"{slug}[bot]", "Bot"),
            hook=Hook(self.next_id(), "integration", app_id, hook_url, secret, chosen),
            client_id=f"Iv23li{secrets.token_hex(7)}",
            client_secret=secrets.token_hex(20),
            pem=pem,
            public_key=key.public_key(),
            permissions=dict(DEFAULT_PERMISSIONS if permissions is None else permissions),
            events=[] if events is None else events,
        )
        self.apps[app_id] = app
        return app

    def install(self, app: App, account: Account, repos: list[Repo] | None = None) -> Installation:
        """Install an App on an account, for all repositories or for the ones given."""
        for found in self.installations.values():
            if found.app is app and found.account is account:
                if repos is not None:
                    found.repo_ids = (found.repo_ids or set()) | {repo.id for repo in repos}
                return found
        ids = None if repos is None else {repo.id for repo in repos}
        made = Installation(self.next_id(), app, account, dict(app.permissions), ids)
        self.installations[made.id] = made
        return made

    def installation_for(self, app: App, repo: Repo) -> Installation | None:
        """The installation by which an App sees a repository."""
        for found in self.installations.values():
            if (
                found.app is app
                and found.account is repo.owner
                and (found.repo_ids is None or repo.id in found.repo_ids)
            ):
                return found
        return None

    def user_token(self, login: str) -> Token:
        """A personal token of an account."""
        value = f"ghp_{secrets.token_hex(18)}"
        token = self.tokens[value] = Token(value, self.account(login))
        return token

    def installation_token(
        self,
        installation: Installation,
        permissions: dict[str, str] | None = None,
        repo_ids: set[int] | None = None,
    ) -> Token:
        """A token of an installation, of an hour by default."""
        value = f"ghs_{secrets.token_hex(18)}"
        token = Token(
            value,
            installation.app.bot,
            installation,
            permissions or installation.permissions,
            repo_ids,
            datetime.now(UTC) + timedelta(seconds=self.limits.token_seconds),
        )
        self.tokens[value] = token
        return token

    def hooks_of(self, repo: Repo) -> list[tuple[Hook, Installation | None]]:
        """Every hook that hears of a repository's events, with its installation if an App's."""
        out: list[tuple[Hook, Installation | None]] = [(h, None) for h in repo.hooks.values()]
        for app in self.apps.values():
            installation = self.installation_for(app, repo)
            if installation is not None:
                out.append((app.hook, installation))
        return out

    def all_hooks(self) -> list[Hook]:
        """Every hook there is."""
        hooks = [app.hook for app in self.apps.values()]
        for repo in self.repos.values():
            hooks.extend(repo.hooks.values())
        return hooks

    def thread_by_node(self, node: str) -> Thread | None:
        """The thread with this node id."""
        for repo in self.repos.values():
            for pull in repo.pulls.values():
                for thread in pull.threads:
                    if node_id("PRRT", thread.id) == node:
                        return thread
        return None

    def too_much_content(self, login: str) -> bool:
        """Count one created thing; whether the minute's allowance is spent."""
        if not self.limits.content_a_minute:
            return False
        moment = time.monotonic()
        times = [t for t in self.content_times.get(login, []) if t > moment - 60]
        self.content_times[login] = [*times, moment]
        return len(times) >= self.limits.content_a_minute


def node_id(prefix: str, number: int) -> str:
    """GitHub's kind of opaque global id."""
    return f"{prefix}_{base64.urlsafe_b64encode(number.to_bytes(6, 'big')).decode().rstrip('=')}"
