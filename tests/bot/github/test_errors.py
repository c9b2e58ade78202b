"""What GitHub's answers and silences mean, and which requests are sent again."""

from __future__ import annotations

import time

import pytest
import requests
from github import GithubException
from github.GithubException import RateLimitExceededExceedsMaxWait
from urllib3.exceptions import MaxRetryError, NewConnectionError, ProtocolError

from bot.github.errors import Answered, Gone, Unauthorized, from_github, from_transport
from bot.github.requests import add_annotations, annotation, create_issue_comment, pull, repository
from bot.github.retry import read_retry
from bot.jobs.forge import LostAnswer, NotFound, Transient


def answered(status, message="x", headers=None, errors=None):
    data = {"message": message} | ({} if errors is None else {"errors": errors})
    return GithubException(status, data, headers or {})


@pytest.mark.parametrize(
    ("error", "writes", "kind", "wait"),
    [
        (answered(502), False, Transient, None),
        (answered(502), True, LostAnswer, None),
        (answered(404), False, Gone, None),
        (answered(410), True, NotFound, None),
        (answered(401), True, Unauthorized, None),
        (answered(422), True, Answered, None),
        (answered(403, "Resource not accessible by integration"), True, Answered, None),
        (answered(403, "slow down", {"Retry-After": "17"}), True, Transient, 17),
        (answered(429, "too many"), True, Transient, 60),
        (
            answered(403, "You have exceeded a secondary rate limit."),
            True,
            Transient,
            60,
        ),
        (answered(403, "x", {"X-RateLimit-Remaining": "0"}), False, Transient, 60),
        (RateLimitExceededExceedsMaxWait(403, {}, {}, wait=90.0), False, Transient, 90),
    ],
)
def test_trouble_20_what_an_answer_means(error, writes, kind, wait):
    meant = from_github(error, "POST /x", writes)
    assert type(meant) is kind or isinstance(meant, kind)
    assert not (kind is Transient and isinstance(meant, LostAnswer))
    assert getattr(meant, "retry_after", None) == wait
    assert str(meant).startswith("POST /x: GitHub answered")


def test_the_reset_of_a_primary_limit_is_waited_for():
    reset = str(int(time.time()) + 100)
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    meant = from_github(answered(403, "API rate limit exceeded", headers), "GET /x", False)
    assert isinstance(meant, Transient)
    assert 95 < (meant.retry_after or 0) <= 101


def test_the_words_of_a_refusal_are_kept():
    errors = ["Path could not be resolved", {"field": "line", "code": "invalid"}]
    meant = from_github(answered(422, "Unprocessable Entity", None, errors), "POST /x", True)
    assert isinstance(meant, Answered)
    assert meant.says("could not be RESOLVED")
    assert meant.says("line invalid")
    assert "Path could not be resolved; line invalid" in str(meant)


def test_a_write_that_was_never_sent_may_be_sent_again():
    refused = requests.ConnectionError(
        MaxRetryError(None, "/x", NewConnectionError(None, "refused"))  # type: ignore[arg-type]
    )
    assert type(from_transport(refused, "POST /x", True)) is Transient
    assert type(from_transport(requests.ConnectTimeout(), "POST /x", True)) is Transient
    cut = requests.ConnectionError(ProtocolError("Connection aborted"))
    assert type(from_transport(cut, "POST /x", True)) is LostAnswer
    assert type(from_transport(requests.ReadTimeout(), "POST /x", True)) is LostAnswer
    assert type(from_transport(requests.ReadTimeout(), "GET /x", False)) is Transient


def test_only_reads_are_repeated_and_with_jitter():
    retry = read_retry(30)
    assert retry.is_retry("GET", 502)
    assert retry.is_retry("GET", 429)
    assert not retry.is_retry("POST", 502)
    assert not retry.is_retry("PATCH", 429, has_retry_after=True)
    assert not retry.is_retry("GET", 404)
    assert retry.backoff_jitter > 0
    assert retry.new(total=1).max_rate_limit_wait == 30


@pytest.mark.parametrize("name", ["", "a", "a/b/c", "/b", "a/", "a/.."])
def test_what_is_no_repository(name):
    with pytest.raises(ValueError, match="write owner/name"):
        repository(name)


def test_requests_are_plain_values():
    assert pull("a b/c", 1).path == "/repos/a%20b/c/pulls/1"
    assert create_issue_comment("a/b", 1, "x").writes
    with pytest.raises(ValueError, match="at most 50"):
        add_annotations("a/b", 1, "t", "s", [annotation("p", 1, 1, "m")] * 51)
