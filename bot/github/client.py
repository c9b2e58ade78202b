"""Sends requests to GitHub through PyGithub and answers with plain data or a ``ForgeError``.

One ``Api`` belongs to one thread: PyGithub keeps the request being sent on its connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from github import GithubException
from github.Requester import Requester

from bot.github.errors import Answered, Unauthorized, from_github, from_transport
from bot.github.requests import Request
from bot.jobs.forge import ForgeError, LostAnswer, Transient

_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="next"')
_MOST_PAGES = 1_000

Quota = Callable[[int, int, float], None]
"""Told after every answer: requests left, limit, and when it is reset (seconds since the epoch)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer: JSON data (``{"data": text}`` for anything else) and its headers."""

    data: Any
    headers: Mapping[str, str]

    @property
    def following(self) -> dict[str, str | int]:
        """The query of the next page, from the ``Link`` header; empty on the last.

        Only the query is taken: the host of a link is never followed.
        """
        match = _NEXT.search(self.headers.get("link", ""))
        return dict(parse_qsl(urlsplit(match[1]).query)) if match else {}


class Api:
    """GitHub's API under one identity (``Requester`` holds address, token, pace and retries).

    ``renew`` is called once after a 401, before the request is sent a second time: a token that
    was revoked is not used until its hour is over.
    """

    def __init__(
        self,
        requester: Requester,
        renew: Callable[[], None] | None = None,
        quota: Quota | None = None,
    ) -> None:
        self._requester = requester
        self._renew = renew
        self._quota = quota

    def send(self, request: Request) -> Answer:
        """Send one request.

        Raises ``Transient`` (try later), ``LostAnswer`` (a write that may have happened),
        ``Gone``, ``Unauthorized`` or ``Answered`` (refused).
        """
        try:
            return self._send(request)
        except Unauthorized:
            if self._renew is None:
                raise
            self._renew()
            return self._send(request)

    def data(self, request: Request) -> Any:
        """The JSON of one answer."""
        return self.send(request).data

    def text(self, request: Request) -> str:
        """The text of an answer that is not JSON."""
        data = self.send(request).data
        if isinstance(data, Mapping) and isinstance(data.get("data"), str):
            return str(data["data"])
        return "" if data is None else str(data)

    def pages(self, request: Request, item: str | None = None) -> Iterator[list[Any]]:
        """The pages of a list (or of the list under ``item`` of each answer), lazily."""
        for _ in range(_MOST_PAGES):
            answer = self.send(request)
            rows = answer.data if item is None else (answer.data or {}).get(item)
            yield rows if isinstance(rows, list) else []
            following = answer.following
            if not following:
                return
            request = replace(request, params=following)

    def items(self, request: Request, item: str | None = None) -> Iterator[Any]:
        """The entries of a list over all its pages, lazily."""
        for page in self.pages(request, item):
            yield from page

    def graphql(self, query: str, variables: Mapping[str, Any], writes: bool = False) -> Any:
        """The ``data`` of a GraphQL answer. An answer with errors raises ``Answered``.

        On GitHub Enterprise Server the path is the API's own, which PyGithub works out.
        """
        what = f"GraphQL {query.split('(')[0].split('{')[0].strip() or 'query'}"
        body = {"query": query, "variables": dict(variables)}
        answer = self._checked(
            lambda: self._requester.requestJsonAndCheck(
                "POST", self._requester.graphql_url, input=body
            ),
            what,
            writes,
        )
        errors = answer.data.get("errors") if isinstance(answer.data, dict) else None
        if errors:
            kinds = tuple(str(e.get("type", "")) for e in errors if isinstance(e, dict))
            said = tuple(str(e.get("message", "")) for e in errors if isinstance(e, dict))
            if "RATE_LIMITED" in kinds:
                raise Transient(f"{what}: GitHub's rate limit", 60.0)
            status = 403 if "FORBIDDEN" in kinds else 404 if "NOT_FOUND" in kinds else 422
            raise Answered(f"{what}: {'; '.join(said[:3])}", status, (*kinds, *said))
        return (answer.data or {}).get("data")

    def _send(self, request: Request) -> Answer:
        what = f"{request.method} {request.path}"
        return self._checked(
            lambda: self._requester.requestJsonAndCheck(
                request.method,
                request.path,
                parameters=dict(request.params),
                headers={"Accept": request.accept},
                input=None if request.body is None else dict(request.body),
            ),
            what,
            request.writes,
        )

    def _checked(
        self, call: Callable[[], tuple[dict[str, Any], Any]], what: str, writes: bool
    ) -> Answer:
        try:
            headers, data = call()
        except GithubException as error:
            raise from_github(error, what, writes) from error
        except requests.RequestException as error:
            raise from_transport(error, what, writes) from error
        except (ValueError, RuntimeError) as error:
            # an answer cut off in the middle of its JSON, or a redirect to another host
            kind: type[ForgeError] = LostAnswer if writes else Transient
            raise kind(f"{what}: GitHub's answer cannot be read ({error})") from error
        if self._quota is not None:
            left, limit = self._requester.rate_limiting
            if limit > 0:
                self._quota(left, limit, float(self._requester.rate_limiting_resettime))
        return Answer(data, {str(k).lower(): str(v) for k, v in headers.items()})
