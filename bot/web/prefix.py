"""Serving under a path: where ``public_url`` is https://host/tools/marginalia."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def prefix_of(public_url: str) -> str:
    """The path of an address without its last slash; empty for a whole host."""
    return urlsplit(public_url).path.rstrip("/")


class UnderPrefix:
    """Makes every address begin with the prefix.

    The proxy in front may take the prefix away or leave it: both arrive at the same page, and what
    asks this process directly (a health check) needs none.
    """

    def __init__(self, app: Wsgi, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request (PEP 3333)."""
        path = str(environ.get("PATH_INFO") or "")
        if path == self._prefix or path.startswith(f"{self._prefix}/"):
            environ["PATH_INFO"] = path[len(self._prefix) :] or "/"
        environ["SCRIPT_NAME"] = self._prefix
        return self._app(environ, start_response)
