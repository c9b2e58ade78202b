"""Plain HTTP to the double, for tests that look at statuses and headers themselves."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import jwt
import requests

from tests.github_double.client import AppKeys, Double
from tests.github_double.fixtures import Scene


@dataclass(frozen=True, slots=True)
class Asker:
    """Calls with one token (none at all where it is empty)."""

    base: str
    token: str = ""

    def __call__(
        self, method: str, path: str, data: Any = None, **headers: str
    ) -> requests.Response:
        """``headers`` are given with ``_`` for ``-``; the answer is not checked."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        return requests.request(method, self.base + path, json=data, headers=sent, timeout=60)


def bot(scene: Scene) -> Asker:
    """The App's installation."""
    return Asker(scene.github.url, scene.github.installation_token(scene.installation))


def person(double: Double, login: str = "alice") -> Asker:
    """Someone with a personal token."""
    return Asker(double.url, double.token(login))


def app_jwt(app: AppKeys, *, key: str = "", algorithm: str = "RS256", **claims: Any) -> str:
    """An App's JWT; ``claims`` are laid over good ones."""
    moment = int(time.time())
    good = {"iss": str(app.id), "iat": moment - 60, "exp": moment + 300}
    return jwt.encode({**good, **claims}, key or app.pem, algorithm=algorithm)
