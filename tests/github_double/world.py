"""What the double knows, and the look-ups that its handlers share.

Plain records in memory with real git beside them. All of it is guarded by one lock, taken once
for a request.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github_double.git_store import GitRepo
from tests.github_double.records import (
    DEFAULT_PERMISSIONS,
    Account,
    App,
    Hook,
    Installation,
    Limits,
    Repo,
    Thread,
    Token,
    node_id,
)

FIRST_ID = 3_000_000_000
"""Ids start beyond 32 bits, as GitHub's do by now."""


class World:
    """Everything, with the lookups that the handlers share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.root = "http://127.0.0.1"
        self._ids = itertools.count(FIRST_ID)
        self._lives = itertools.count(1)
        self.reset()

    def reset(self) -> None:
        """Forget everything and start anew; ids go on, so no two things ever share one."""
        self.git_folder = self.folder / "git" / str(next(self._lives))
        self.limits = Limits()
        self.auto_deliver = False
        self.accounts: dict[str, Account] = {}
        self.repos: dict[str, Repo] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.manifest_codes: dict[str, App] = {}
        self.oauth_codes: dict[str, tuple[App, Account, str]] = {}
        self.user_apps: dict[str, App] = {}
        self.signed_in = "alice"
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
        number = self.next_id()
        # by its number: a name may have been another repository's before
        git = GitRepo.create(self.git_folder / owner / f"{name}-{number}.git")
        repo = Repo(number, account, name, git, private=private)
        self.repos[full_name.lower()] = repo
        return repo

    def fork_repo(self, parent: Repo, owner: str) -> Repo:
        """A copy of a repository under another owner."""
        git = parent.git.fork(self.git_folder / owner / f"{parent.name}.git")
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
        app_id = self.next_id()
        slug = "-".join(name.lower().split())
        pem, public_key = _key_pair(slug)
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
            public_key=public_key,
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


@cache
def _key_pair(slug: str) -> tuple[str, rsa.RSAPublicKey]:
    """An App's key pair; made once a name, as making one takes long."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return pem.decode(), key.public_key()
