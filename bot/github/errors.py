"""GitHub's answers as the errors of ``bot.jobs.forge``, which say what may be done next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import requests
from github import GithubException
from github.GithubException import RateLimitExceededExceedsMaxWait
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from bot.jobs.forge import ForgeError, LostAnswer, NotFound, Refused, Transient

SECONDARY_WAIT = 60.0
"""Least wait in seconds at a secondary limit that names none, as GitHub's guide says."""

_LIMIT_WORDS = ("rate limit", "abuse detection", "retry your request again later")


class Answered(Refused):
    """GitHub refused with this status; ``errors`` are its own words, one a fault."""

    def __init__(self, message: str, status: int, errors: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.errors = errors

    def says(self, words: str) -> bool:
        """Whether the answer contains these words, in whatever case."""
        low = words.lower()
        return low in str(self).lower() or any(low in error.lower() for error in self.errors)


class Gone(Answered, NotFound):
    """404 or 410: the thing is not there, or not ours to see."""


class Unauthorized(Answered):
    """401: the token is not good (any more); nothing was done."""


def from_github(error: GithubException, what: str, writes: bool) -> ForgeError:
    """What an answer with an error status means for the request ``what``."""
    status = error.status or 0
    headers = {str(k).lower(): str(v) for k, v in (error.headers or {}).items()}
    words = tuple(_words(error.data))
    said = words[0] if words else "no message"
    message = f"{what}: GitHub answered {status} ({said})"
    if isinstance(error, RateLimitExceededExceedsMaxWait):
        return Transient(message, error.wait)
    if status in (403, 429):
        wait = _limit_wait(status, headers, words)
        if wait is not None:
            return Transient(message, wait)
    if status >= 500 or status in (0, 408):
        return LostAnswer(message) if writes else Transient(message, _retry_after(headers))
    if status in (404, 410):
        return Gone(message, status, words)
    if status == 401:
        return Unauthorized(message, status, words)
    return Answered(f"{message}{_rest(words)}", status, words)


def from_transport(error: Exception, what: str, writes: bool) -> ForgeError:
    """What a connection's failure means: was the request ever sent?"""
    message = f"{what}: no answer from GitHub ({type(error).__name__})"
    if not writes or _never_sent(error):
        return Transient(message)
    return LostAnswer(message)


def _never_sent(error: BaseException) -> bool:
    """Whether a failure came before the request could reach anyone."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    kinds = (NewConnectionError, ConnectTimeoutError, NameResolutionError)
    return isinstance(error, requests.ConnectionError) and any(
        isinstance(getattr(arg, "reason", arg), kinds) for arg in error.args
    )


def _limit_wait(status: int, headers: Mapping[str, str], words: tuple[str, ...]) -> float | None:
    """Seconds to wait where this is a rate limit, else ``None``."""
    after = _retry_after(headers)
    if after is not None:
        return after
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        if reset.isdigit():
            return max(float(reset) - time.time(), 0) + 1
        return SECONDARY_WAIT
    limited = any(word in text.lower() for text in words for word in _LIMIT_WORDS)
    return SECONDARY_WAIT if limited or status == 429 else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if value.isdigit() else None


def _words(data: Any) -> Iterator[str]:
    """The message and the errors of an answer's body, whatever shape they have."""
    if isinstance(data, Mapping):
        if isinstance(data.get("message"), str):
            yield data["message"]
        errors = data.get("errors")
        for item in errors if isinstance(errors, list) else [errors]:
            if isinstance(item, str):
                yield item
            elif isinstance(item, Mapping):
                parts = (item.get(k) for k in ("field", "code", "message", "type"))
                yield " ".join(str(part) for part in parts if part)
    elif isinstance(data, str) and data:
        yield data[:200]


def _rest(words: tuple[str, ...]) -> str:
    return f": {'; '.join(words[1:4])}" if len(words) > 1 else ""
