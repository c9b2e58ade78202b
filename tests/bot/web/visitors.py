"""People who visit the pages over HTTP, and the site that they visit."""

from __future__ import annotations

import re

import pytest
import requests

from bot.feedback import approval
from tests.bot.web.site import Site, furnish, running
from tests.github_double import Double


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with (
        Double(judge="never") as github,
        running(github, tmp_path_factory.mktemp("site")) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def numbers(site: Site):
    return furnish(site)


class Browser(requests.Session):
    """Keeps cookies and follows redirects, as a browser would."""

    def __init__(self, site: Site, login: str = "") -> None:
        super().__init__()
        self.site = site
        if login:
            site.sign_in_as(login)
            assert self.look("/auth/github").url.endswith("/queue")

    def look(self, path: str, **more) -> requests.Response:
        return self.get(self.site.url + path, timeout=60, **more)

    def submit(self, path: str, data: dict | None = None, csrf: bool = True) -> requests.Response:
        sent = dict(data or {})
        if csrf:
            sent["csrf"] = self.csrf()
        return self.post(self.site.url + path, data=sent, timeout=60)

    def csrf(self) -> str:
        page = self.look("/connections").text
        return re.search(r'name="csrf" value="([0-9a-f]{64})"', page)[1]


@pytest.fixture(scope="module")
def alice(site, numbers):
    return Browser(site, "alice")


@pytest.fixture(scope="module")
def bob(site, numbers):
    return Browser(site, "bob")


@pytest.fixture(scope="module")
def mallory(site, numbers):
    """Someone on GitHub who may see nothing here."""
    return Browser(site, "mallory")


def state_of(site: Site, number: int) -> str:
    row = approval.get(site.ledger.database, number)
    assert row is not None
    return row.state
