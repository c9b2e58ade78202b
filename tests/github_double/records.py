"""The records of which the double's world is made: accounts, repositories, reviews, tokens."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github_double.git_store import GitRepo

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
    name: str | None = None
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
    updated_at: str = field(default_factory=now)

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
    """A comment on lines of the diff; ``line`` is ``None`` once its code is gone (outdated).

    ``hidden`` is the reason of who hid it, in GraphQL's lower-case words; "" where it is shown.
    """

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
    hidden: str = ""
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


def node_id(prefix: str, number: int) -> str:
    """GitHub's kind of opaque global id."""
    return f"{prefix}_{base64.urlsafe_b64encode(number.to_bytes(6, 'big')).decode().rstrip('=')}"
