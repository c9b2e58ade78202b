"""Which requests are sent again by themselves: reads, a few times, with jitter. Never writes.

PyGithub's own default repeats a POST up to ten times after a 5xx, which is how one review becomes
ten; after a write the job looks for what it may have made instead.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from github import GithubRetry
from github.GithubException import RateLimitExceededExceedsMaxWait
from urllib3 import Retry
from urllib3.connectionpool import ConnectionPool
from urllib3.response import HTTPResponse

READ_TRIES = 4
BACKOFF_SECONDS = 0.5
JITTER_SECONDS = 0.5


class ReadRetry(GithubRetry):
    """``GithubRetry`` for reads alone, with 429, jitter, and a bound on every wait.

    Waits above ``max_rate_limit_wait`` seconds raise ``RateLimitExceededExceedsMaxWait``: the job
    sleeps, not the thread.
    """

    def increment(  # type: ignore[override]
        self,
        method: str | None = None,
        url: str | None = None,
        response: HTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Retry:
        """One try less, or the error where none is left or the wait would be too long."""
        if response is not None and self.max_rate_limit_wait is not None:
            named = response.headers.get("Retry-After", "")
            if named.isdigit() and float(named) > self.max_rate_limit_wait:
                raise RateLimitExceededExceedsMaxWait(
                    response.status,
                    {"message": "rate limit"},
                    dict(response.headers),
                    wait=float(named),
                )
        return super().increment(method, url, response, error, _pool, _stacktrace)

    def new(self, **kw: Any) -> Self:
        """A copy with some values changed (urllib3 makes one a try)."""
        return super().new(**kw)


def read_retry(max_wait: float, backoff: float = BACKOFF_SECONDS) -> ReadRetry:
    """The retry of reads; ``max_wait`` in seconds bounds a rate limit's wait."""
    return ReadRetry(
        total=READ_TRIES,
        secondary_rate_wait=min(max_wait, 60.0),
        max_rate_limit_wait=max_wait,
        allowed_methods=frozenset({"GET", "HEAD"}),
        # GithubRetry adds 403 to these, and looks into the answer before it repeats one
        status_forcelist=[429, *range(500, 600)],
        backoff_factor=backoff,
        backoff_jitter=min(JITTER_SECONDS, backoff),
        raise_on_status=False,
    )
