"""Addresses of pull requests, reviews and comments as people copy them from GitHub's pages.

The pages of github.com and of an Enterprise Server have the same paths. A wrong address is told in
one line with what is wrong and what a right one looks like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote, urlsplit

EXAMPLE = "https://github.com/OWNER/REPOSITORY/pull/NUMBER"
_MOST_CHARACTERS = 2_000
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


class UrlKind(StrEnum):
    """What an address names."""

    PULL = "pull request"
    REVIEW = "review"
    COMMENT = "review comment"
    NOTE = "comment in the conversation"


_ANCHORS = (
    # the files page says only "r"; the conversation has the longer word
    (re.compile(r"discussion_r([1-9][0-9]{0,17})"), UrlKind.COMMENT),
    (re.compile(r"r([1-9][0-9]{0,17})"), UrlKind.COMMENT),
    (re.compile(r"pullrequestreview-([1-9][0-9]{0,17})"), UrlKind.REVIEW),
    (re.compile(r"issuecomment-([1-9][0-9]{0,17})"), UrlKind.NOTE),
)
# other places of the page that are the pull request itself
_NO_THING = re.compile(r"(|diff-[0-9a-zA-Z]+|issue-[0-9]+|partial-pull-merging|top)")


class UrlError(ValueError):
    """The text is not the address that was asked for; the message is one line for a person."""


@dataclass(frozen=True, slots=True)
class PullUrl:
    """A pull request's address, or that of a review or comment on it.

    ``site`` is scheme, host and (unless the usual one) port, in lower case; ``repository`` is
    ``owner/name`` as written. ``id`` is the review's or comment's number on GitHub, 0 for the pull
    request itself.
    """

    site: str
    repository: str
    number: int
    kind: UrlKind = UrlKind.PULL
    id: int = 0

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


def looks_like_url(text: str) -> bool:
    """Whether a text was meant as an address at all."""
    return "/" in text or ":" in text


def parse_url(text: str) -> PullUrl:
    """The address of a pull request, review or comment. Raises ``UrlError``."""
    shown = _shown(text)
    if len(text) > _MOST_CHARACTERS or any(c.isspace() or not c.isprintable() for c in text):
        raise UrlError(f'"{shown}" is not an address: give one like {EXAMPLE}')
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise UrlError(f'"{shown}" is not an address: give one like {EXAMPLE}') from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise UrlError(f'"{shown}" does not start with https://HOST: give one like {EXAMPLE}')
    if parts.username is not None or parts.password is not None:
        raise UrlError(
            "the address has a name or password in it: leave that out, "
            "tokens are given as MARGINALIA_TOKEN"
        )
    host = parts.hostname.lower()
    words = [unquote(word) for word in parts.path.split("/")]
    api_host = host == "api.github.com" or (host.startswith("api.") and host.endswith(".ghe.com"))
    if api_host or words[1:3] == ["api", "v3"]:
        raise UrlError(f'"{shown}" is an address of the API: give the page\'s, like {EXAMPLE}')
    repository, number = _pull_of(words, shown)
    kind, thing = _anchor_of(parts.fragment, shown)
    return PullUrl(_site(parts.scheme, host, port), repository, number, kind, thing)


def site_of(url: str) -> str:
    """Scheme, host and port of a site's address, in the form of ``PullUrl.site``.

    Raises ``UrlError`` where the setting is no address.
    """
    try:
        parts = urlsplit(url)
        return _site(parts.scheme, (parts.hostname or "").lower(), parts.port)
    except ValueError:
        raise UrlError(f'MARGINALIA_GITHUB_URL: "{_shown(url)}" is not an address') from None


def check_site(url: PullUrl, github_url: str) -> None:
    """Refuse an address of another GitHub than the one that the settings speak of.

    No request ever goes to a host out of an address: this only makes sure that the answer is about
    what was asked. Raises ``UrlError``.
    """
    ours = site_of(github_url)
    if url.site != ours:
        raise UrlError(
            f"{url} is on {url.site}, but the settings speak of {ours}: set MARGINALIA_GITHUB_URL "
            "and MARGINALIA_GITHUB_API_URL to that server's addresses"
        )


def _pull_of(words: list[str], shown: str) -> tuple[str, int]:
    """Repository and number out of ``["", owner, name, "pull", number, ...]``."""
    if len(words) < 5 or words[0] or words[3] not in ("pull", "pulls"):
        if len(words) > 4 and words[3] == "issues":
            raise UrlError(f"\"{shown}\" is an issue's: give a pull request's, like {EXAMPLE}")
        raise UrlError(f'"{shown}" is no pull request\'s address: give one like {EXAMPLE}')
    owner, name, number = words[1], words[2], words[4]
    for word in (owner, name):
        if not _NAME.fullmatch(word) or word in (".", ".."):
            raise UrlError(f'"{shown}": "{_shown(word)}" is no owner\'s or repository\'s name')
    if not _NUMBER.fullmatch(number):
        raise UrlError(f'"{shown}": "{_shown(number)}" is not a pull request\'s number')
    return f"{owner}/{name}", int(number)


def _anchor_of(fragment: str, shown: str) -> tuple[UrlKind, int]:
    for pattern, kind in _ANCHORS:
        match = pattern.fullmatch(fragment)
        if match:
            return kind, int(match[1])
    if _NO_THING.fullmatch(fragment) or fragment.startswith("diff-"):
        return UrlKind.PULL, 0
    raise UrlError(
        f'"{shown}": "#{_shown(fragment)}" names no review and no comment: those end in '
        "#pullrequestreview-NUMBER or #discussion_rNUMBER"
    )


def _site(scheme: str, host: str, port: int | None) -> str:
    if host == "www.github.com":
        host = "github.com"
    if ":" in host:
        host = f"[{host}]"
    usual = port is None or port == _DEFAULT_PORTS.get(scheme)
    return f"{scheme}://{host}" if usual else f"{scheme}://{host}:{port}"


def _shown(text: str) -> str:
    """A text from outside, short and printable, for a message."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain if len(plain) <= 200 else plain[:199] + "…"
