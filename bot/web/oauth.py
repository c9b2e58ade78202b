"""Signing in through the App: GitHub's web flow with a state and PKCE (RFC 7636)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import requests

from bot.github.auth import Pace, TokenIdentity
from bot.github.client import Api
from bot.github.requests import get
from bot.settings import Settings

CALLBACK = "/auth/callback"
_PACE = Pace(between_requests=0, between_writes=0, timeout=10, max_wait=2, backoff=0.2)
_TIMEOUT = 10.0


class SignInError(Exception):
    """Why nobody was signed in, in one line for the person."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to sign in, kept in the browser that began it."""

    state: str
    verifier: str
    after: str

    @classmethod
    def new(cls, after: str) -> Attempt:
        """A fresh one; ``after`` is the page to go to."""
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(48), after)

    def address(self, settings: Settings, callback: str) -> str:
        """Where the browser goes to ask the person."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "client_id": settings.client_id,
            "redirect_uri": callback,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "allow_signup": "false",
        }
        return f"{settings.github_url}/login/oauth/authorize?{urlencode(query)}"


def exchange(settings: Settings, attempt: Attempt, code: str, callback: str) -> str:
    """The person's token for GitHub's code.

    Raises:
        SignInError: GitHub does not take the code, or does not answer.
    """
    secret = settings.client_secret
    try:
        answer = requests.post(
            f"{settings.github_url}/login/oauth/access_token",
            data={
                "client_id": settings.client_id,
                "client_secret": "" if secret is None else secret.get_secret_value(),
                "code": code,
                "redirect_uri": callback,
                "code_verifier": attempt.verifier,
            },
            headers={"Accept": "application/json"},
            timeout=_TIMEOUT,
            allow_redirects=False,
        )
        data: Any = answer.json()
    except (requests.RequestException, ValueError) as error:
        kind = type(error).__name__
        raise SignInError(f"GitHub gave no usable answer ({kind}): try again.") from error
    token = data.get("access_token") if isinstance(data, dict) else None
    if not isinstance(token, str) or not token:
        said = str(data.get("error", "no token"))[:60] if isinstance(data, dict) else "no token"
        raise SignInError(f"GitHub did not take the sign-in ({said}): begin again.")
    return token


def api_of(settings: Settings, token: str) -> Api:
    """GitHub's API as the person sees it, in this thread."""
    return TokenIdentity(token, settings.github_api_url, _PACE).api(None)


def login_of(settings: Settings, token: str) -> str:
    """Whose token it is; ``bot.jobs.forge.ForgeError`` where GitHub does not say."""
    return str(api_of(settings, token).data(get("/user"))["login"])
