"""Who we are to GitHub: an App with a token an installation, or one person's token.

Installation tokens live an hour; one is kept for each installation and shared by all threads until
five minutes before its end, so that a git fetch begun with it can finish.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from github import Auth, Github, GithubException, GithubIntegration
from github.Auth import AppAuth
from jwt import PyJWTError

from bot.github.client import Api, Quota
from bot.github.errors import Answered, from_github, from_transport
from bot.github.requests import get
from bot.github.retry import read_retry
from bot.jobs.forge import Refused

API_VERSION = "2022-11-28"
USER_AGENT = "marginalia"
RENEW_BEFORE_SECONDS = 300.0
ACTIONS_LOGIN = "github-actions[bot]"


@dataclass(frozen=True, slots=True)
class Pace:
    """How gently GitHub is asked; times in seconds.

    ``max_wait`` is how long a thread sleeps for a rate limit before the job is put off instead.
    """

    between_requests: float = 0.05
    between_writes: float = 1.0
    timeout: int = 20
    max_wait: float = 30.0
    backoff: float = 0.5


class Identity(Protocol):
    """Makes clients; an App makes one for each installation."""

    def api(self, installation_id: int | None) -> Api:
        """This thread's client for an installation (``None`` and ignored in token mode)."""
        ...

    def token(self, installation_id: int | None) -> str:
        """A token that is good for some minutes, for git."""
        ...

    @property
    def login(self) -> str:
        """The account that our reviews are by."""
        ...

    @property
    def app_id(self) -> int | None:
        """The App's number, ``None`` in token mode."""
        ...


class _Threads:
    """One ``Api`` a thread and key."""

    def __init__(self) -> None:
        self._local = threading.local()

    def get(self, key: int | None, make: Callable[[], Api]) -> Api:
        kept: dict[int | None, Api] = self._local.__dict__.setdefault("kept", {})
        if key not in kept:
            kept[key] = make()
        return kept[key]


def _requester_of(base_url: str, auth: Auth.Auth, pace: Pace) -> Github:
    return Github(
        base_url=base_url,
        auth=auth,
        timeout=pace.timeout,
        user_agent=USER_AGENT,
        retry=read_retry(pace.max_wait, pace.backoff),
        seconds_between_requests=pace.between_requests,
        seconds_between_writes=pace.between_writes,
        api_version=API_VERSION,
        lazy=True,
    )


class _InstallationAuth(Auth.Auth):
    """Takes the installation's token from the shared cache at every request."""

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    @property
    def token_type(self) -> str:
        """Installation tokens are bearer tokens."""
        return "Bearer"

    @property
    def token(self) -> str:
        """The token that is good now."""
        return self._read()


class AppIdentity:
    """A GitHub App. Raises ``Refused`` where its key is not a PEM private key."""

    def __init__(
        self,
        app_id: int,
        private_key: str,
        base_url: str = "https://api.github.com",
        pace: Pace | None = None,
        quota: Quota | None = None,
    ) -> None:
        self._app_id = app_id
        self._base_url = base_url
        self._pace = pace or Pace()
        self._quota = quota
        self._auth = AppAuth(app_id, private_key)
        try:
            self._auth.create_jwt()
        except (PyJWTError, ValueError, TypeError) as error:
            raise Refused(
                "the App's private key cannot be used: give the .pem file that GitHub made"
            ) from error
        self._threads = _Threads()
        self._lock = threading.Lock()
        self._locks: dict[int, threading.Lock] = {}
        self._tokens: dict[int, tuple[str, float]] = {}
        self._login = ""

    @property
    def app_id(self) -> int | None:
        """The App's number."""
        return self._app_id

    @property
    def login(self) -> str:
        """The App's bot account: its slug and ``[bot]``."""
        if not self._login:
            app = self.app_api().data(get("/app"))
            self._login = f"{app['slug']}[bot]"
        return self._login

    def app_api(self) -> Api:
        """This thread's client as the App itself: delivery list, installations."""
        return self._threads.get(
            None,
            lambda: Api(_requester_of(self._base_url, self._auth, self._pace).requester),
        )

    def api(self, installation_id: int | None) -> Api:
        """This thread's client for one installation. Raises ``Refused`` without one."""
        if installation_id is None:
            raise Refused("an App needs to know the installation: the delivery named none")

        def make() -> Api:
            auth = _InstallationAuth(lambda: self.token(installation_id))
            github = _requester_of(self._base_url, auth, self._pace)
            return Api(github.requester, lambda: self.forget(installation_id), self._quota)

        return self._threads.get(installation_id, make)

    def token(self, installation_id: int | None) -> str:
        """The installation's token, new where the kept one ends within five minutes."""
        if installation_id is None:
            raise Refused("an App needs to know the installation: the delivery named none")
        with self._lock:
            lock = self._locks.setdefault(installation_id, threading.Lock())
        with lock:
            token, ends = self._tokens.get(installation_id, ("", 0.0))
            if ends - time.time() < RENEW_BEFORE_SECONDS:
                token, ends = self._new_token(installation_id)
                self._tokens[installation_id] = (token, ends)
            return token

    def forget(self, installation_id: int) -> None:
        """Drop the kept token: GitHub does not take it any more."""
        self._tokens.pop(installation_id, None)

    def _new_token(self, installation_id: int) -> tuple[str, float]:
        what = f"a token for installation {installation_id}"
        # a second token costs nothing, so that this one write may be repeated
        retry = read_retry(self._pace.max_wait, self._pace.backoff)
        retry.allowed_methods = frozenset({"GET", "POST"})
        integration = GithubIntegration(
            auth=self._auth,
            base_url=self._base_url,
            timeout=self._pace.timeout,
            user_agent=USER_AGENT,
            retry=retry,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=API_VERSION,
        )
        try:
            made = integration.get_access_token(installation_id)
            return made.token, made.expires_at.timestamp()
        except GithubException as error:
            raise from_github(error, what, writes=False) from error
        except OSError as error:  # requests' errors are OSErrors
            raise from_transport(error, what, writes=False) from error
        finally:
            integration.close()


class TokenIdentity:
    """One token: a person's, a machine account's, or the one of a workflow run."""

    def __init__(
        self,
        token: str,
        base_url: str = "https://api.github.com",
        pace: Pace | None = None,
        quota: Quota | None = None,
    ) -> None:
        if not token.strip():
            raise Refused("the GitHub token is empty")
        self._token = token.strip()
        self._base_url = base_url
        self._pace = pace or Pace()
        self._quota = quota
        self._threads = _Threads()
        self._login = ""

    @property
    def app_id(self) -> int | None:
        """``None``: no App of ours."""
        return None

    @property
    def login(self) -> str:
        """The token's account; a workflow's token, which may not ask, is GitHub Actions'."""
        if not self._login:
            try:
                self._login = str(self.api(None).data(get("/user"))["login"])
            except Answered as error:
                if error.status != 403:
                    raise
                self._login = ACTIONS_LOGIN
        return self._login

    def api(self, installation_id: int | None) -> Api:
        """This thread's client."""
        auth = Auth.Token(self._token)
        return self._threads.get(
            None,
            lambda: Api(
                _requester_of(self._base_url, auth, self._pace).requester, quota=self._quota
            ),
        )

    def token(self, installation_id: int | None) -> str:
        """The token itself."""
        return self._token
