"""Addresses as people copy them, and what is said of wrong ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.pr_url import PullUrl, UrlError, UrlKind, check_site, parse_url

PULL = "https://github.com/acme/web/pull/12"


@pytest.mark.parametrize(
    ("tail", "kind", "number"),
    [
        ("", UrlKind.PULL, 0),
        ("/", UrlKind.PULL, 0),
        ("/files", UrlKind.PULL, 0),
        ("/files?w=1#diff-0f1e2d", UrlKind.PULL, 0),
        ("/commits/0123456789abcdef", UrlKind.PULL, 0),
        ("#issue-77", UrlKind.PULL, 0),
        ("#pullrequestreview-345", UrlKind.REVIEW, 345),
        ("#discussion_r678", UrlKind.COMMENT, 678),
        ("/files#r678", UrlKind.COMMENT, 678),
        ("/changes#r678", UrlKind.COMMENT, 678),
        ("#issuecomment-9", UrlKind.NOTE, 9),
    ],
)
def test_the_forms_of_a_pull_request_s_page(tail: str, kind: UrlKind, number: int) -> None:
    assert parse_url(PULL + tail) == PullUrl("https://github.com", "acme/web", 12, kind, number)


@pytest.mark.parametrize(
    ("text", "site", "repository"),
    [
        ("https://git.corp.example/o.x/r-1_z/pull/3", "https://git.corp.example", "o.x/r-1_z"),
        ("https://GIT.Corp.example:8443/O/R/pull/3", "https://git.corp.example:8443", "O/R"),
        ("https://git.corp.example:443/o/r/pull/3", "https://git.corp.example", "o/r"),
        ("https://www.github.com/o/r/pull/3", "https://github.com", "o/r"),
        ("http://127.0.0.1:4010/o/r/pull/3", "http://127.0.0.1:4010", "o/r"),
        ("http://[::1]:4010/o/r/pull/3", "http://[::1]:4010", "o/r"),
    ],
)
def test_any_server_s_address_is_read(text: str, site: str, repository: str) -> None:
    assert parse_url(text) == PullUrl(site, repository, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not start with https://"),
        ("acme/web#12", "does not start with https://"),
        ("ftp://github.com/acme/web/pull/12", "does not start with https://"),
        ("https:///acme/web/pull/12", "does not start with https://"),
        ("https://github.com", "no pull request's address"),
        ("https://github.com/acme/web", "no pull request's address"),
        ("https://github.com/acme/web/issues/12", "an issue's"),
        ("https://api.github.com/repos/acme/web/pulls/12", "an address of the API"),
        ("https://ghe.example/api/v3/repos/acme/web/pulls/12", "an address of the API"),
        ("https://github.com/acme/web/pull/0", "not a pull request's number"),
        ("https://github.com/acme/web/pull/x", "not a pull request's number"),
        ("https://github.com/acme/web/pull/1" + "0" * 40, "not a pull request's number"),
        ("https://github.com/acme/../pull/12", "no owner's or repository's name"),
        ("https://github.com/acme/a%2Fb/pull/12", "no owner's or repository's name"),
        ("https://github.com:port/acme/web/pull/12", "is not an address"),
        ("https://[github.com/acme/web/pull/12", "is not an address"),
        (PULL + "\nx", "is not an address"),
        (PULL + "\x1b[31m", "is not an address"),
        (PULL + "#event-5", "#event-5"),
        (PULL + "#discussion_rx", "#discussion_rNUMBER"),
    ],
)
def test_a_wrong_address_is_one_line_that_says_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(UrlError) as caught:
        parse_url(text)
    said = str(caught.value)
    assert says in said
    assert said.isprintable()


def test_a_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(UrlError, match="MARGINALIA_TOKEN") as caught:
        parse_url("https://me:hunter2@github.com/acme/web/pull/12")
    assert "hunter2" not in str(caught.value)


def test_another_site_than_the_settings_is_refused() -> None:
    url = parse_url(PULL)
    check_site(url, "https://github.com")
    check_site(url, "https://GitHub.com:443/")
    with pytest.raises(UrlError, match="MARGINALIA_GITHUB_API_URL"):
        check_site(url, "https://git.corp.example")


@given(st.text(max_size=60) | st.text(max_size=60).map(lambda tail: PULL + tail))
def test_whatever_is_given_is_an_address_or_one_printable_line(text: str) -> None:
    said, number = "a line", 1
    try:
        number = parse_url(text).number
    except UrlError as error:
        said = str(error)
    assert said.isprintable()
    assert number > 0
