"""The set-up pages: opened once, by one browser, and gone when the App is made."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from flask import Flask

from bot.settings import Settings
from bot.web.setup import (
    EVENTS,
    PERMISSIONS,
    SetupDesk,
    SetupError,
    Wish,
    api_url,
    manifest,
    setup_pages,
)
from tests.github_double import Double

FORM = {"name": "Marginalia of acme", "organisation": "", "public_url": "https://bot.example/m"}
MADE = {"id": 7, "pem": "-----BEGIN KEY-----\nabc\n", "webhook_secret": 'a"b\\c', "name": "M",
        "html_url": "https://github.com/apps/m"}  # fmt: skip


@pytest.fixture(scope="module")
def github():
    with Double(judge="never") as double:
        yield double


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Settings(data_dir=tmp_path / "data")


@pytest.fixture
def desk(settings):
    return SetupDesk(settings)


def browser(desk):
    app = Flask("test")
    app.register_blueprint(setup_pages(desk))
    return app.test_client()


def hidden(page) -> tuple[str, dict]:
    text = page.get_data(as_text=True)
    action = unescape(re.search(r'action="([^"]+)"', text)[1])
    sent = unescape(re.search(r'name="manifest" value="([^"]+)"', text)[1])
    return action, json.loads(sent)


def test_the_whole_flow_against_the_double(github, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = []
    settings = Settings(
        data_dir=tmp_path / "data", github_url=github.url, github_api_url=github.url
    )
    desk = SetupDesk(settings, done.append)
    client = browser(desk)
    token = desk.open_for_business()
    assert client.get(f"/setup?token={token}").status_code == 200
    wish = {"organisation": "acme", "github_url": github.url, "resolve_threads": "yes"}
    page = client.post("/setup", data={**FORM, **wish})
    action, sent = hidden(page)
    assert action.startswith(f"{github.url}/organizations/acme/settings/apps/new?state=")
    assert sent["redirect_url"] == "https://bot.example/m/setup/made"
    assert sent["hook_attributes"] == {"url": "https://bot.example/m/webhook", "active": True}
    assert sent["callback_urls"] == ["https://bot.example/m/auth/callback"]
    answer = requests.post(
        action, data={"manifest": json.dumps(sent)}, allow_redirects=False, timeout=300
    )
    back = urlsplit(answer.headers["Location"])
    page = client.get(f"/setup/made?{back.query}")
    assert page.status_code == 200
    assert "/installations/new" in page.get_data(as_text=True)
    kept = tomllib.loads(desk.app_file.read_text())
    assert kept["private_key"].startswith("-----BEGIN")
    assert kept["webhook_secret"]
    assert stat.S_IMODE(desk.app_file.stat().st_mode) == 0o600
    assert done == [desk.app_file]
    # the file is what the settings read, and everything is closed for good
    loaded = Settings(data_dir=tmp_path / "data")
    assert loaded.app_id == kept["app_id"]
    assert loaded.github_api_url == github.url
    assert loaded.resolve_threads
    assert loaded.client_id
    assert loaded.client_secret
    assert loaded.public_url == "https://bot.example/m"
    assert client.get("/setup").status_code == 404
    assert client.get(f"/setup?token={token}").status_code == 404
    assert client.get(f"/setup/made?{back.query}").status_code == 404
    assert SetupDesk(loaded).open_for_business() is None
    state = parse_qs(back.query)["state"][0]
    assert state


def test_the_token_opens_once_and_for_one_browser(desk):
    token = desk.open_for_business()
    assert len(token) >= 40
    first, second = browser(desk), browser(desk)
    assert second.get("/setup").status_code == 404
    assert second.get("/setup?token=wrong").status_code == 404
    page = first.get(f"/setup?token={token}")
    assert page.status_code == 200
    cookie = page.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert token not in cookie
    assert second.get(f"/setup?token={token}").status_code == 404
    assert second.post("/setup", data=FORM).status_code == 404
    assert first.get("/setup").status_code == 200


def test_a_new_token_makes_the_old_browser_a_stranger(desk):
    client = browser(desk)
    client.get(f"/setup?token={desk.open_for_business()}")
    desk.open_for_business()
    assert client.get("/setup").status_code == 404


def test_state_is_checked_on_the_way_back(desk, monkeypatch):
    client = browser(desk)
    client.get(f"/setup?token={desk.open_for_business()}")
    assert client.get("/setup/made?code=abc&state=forged").status_code == 403
    assert client.get("/setup/made?code=abc").status_code == 403
    action, _ = hidden(client.post("/setup", data=FORM))
    state = urlsplit(action).query
    assert client.get(f"/setup/made?code=a/../b&{state}").status_code == 400


def test_a_code_that_github_does_not_know_can_be_tried_again(github, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings(data_dir=tmp_path, github_url=github.url, github_api_url=github.url)
    desk = SetupDesk(settings)
    client = browser(desk)
    client.get(f"/setup?token={desk.open_for_business()}")
    action, _ = hidden(client.post("/setup", data=FORM))
    page = client.get(f"/setup/made?code=unknown&{urlsplit(action).query}")
    assert page.status_code == 502
    assert "Begin again" in page.get_data(as_text=True)
    assert not desk.app_file.exists()
    assert client.get("/setup").status_code == 200


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "a<b"}, "Name:"),
        ({"name": ""}, "Name:"),
        ({"organisation": "../x"}, "Organisation:"),
        ({"public_url": "http://bot.example"}, "Address: an address that begins with https://"),
        ({"public_url": "https://bot.example/?x=1"}, "Address: only scheme"),
        ({"github_url": "ftp://github.com"}, "GitHub: an address"),
        ({"github_url": 'https://a";x'}, "GitHub: only scheme"),
    ],
)
def test_a_wrong_wish_is_told(desk, change, problem):
    client = browser(desk)
    client.get(f"/setup?token={desk.open_for_business()}")
    page = client.post("/setup", data={**FORM, **change})
    assert page.status_code == 400
    assert problem in unescape(page.get_data(as_text=True))


def test_pages_are_locked_down(desk):
    page = browser(desk).get(f"/setup?token={desk.open_for_business()}")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert "<script" not in page.get_data(as_text=True)


def test_secrets_are_written_exactly_and_never_over_others(desk):
    desk.open_for_business()
    desk.keep(MADE, "https://github.com", "https://api.github.com")
    kept = tomllib.loads(desk.app_file.read_text())
    assert (kept["app_id"], kept["private_key"]) == (7, MADE["pem"])
    assert kept["webhook_secret"] == MADE["webhook_secret"]
    with pytest.raises(SetupError, match="is there already"):
        desk.keep(MADE, "https://github.com", "https://api.github.com")
    with pytest.raises(SetupError, match="lacks"):
        desk.keep({"id": 1}, "https://github.com", "https://api.github.com")
    assert [p.name for p in desk.app_file.parent.iterdir()] == ["app.toml"]


def test_the_manifest_asks_for_no_more_than_it_needs():
    made = manifest(Wish("M", "", "https://x", "https://github.com"))
    assert made["default_permissions"] == {
        "contents": "read",
        "pull_requests": "write",
        "checks": "write",
        "metadata": "read",
        "issues": "read",
    }
    assert made["default_permissions"] is not PERMISSIONS
    assert made["public"] is False
    assert set(made["default_events"]) == set(EVENTS)
    allowed = manifest(Wish("M", "", "https://x", "https://github.com", resolve_threads=True))
    assert allowed["default_permissions"]["contents"] == "write"


@pytest.mark.parametrize(
    ("github_url", "api"),
    [
        ("https://github.com", "https://api.github.com"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com"),
        ("https://git.example:8443", "https://git.example:8443/api/v3"),
    ],
)
def test_where_the_api_is(github_url, api):
    assert api_url(github_url) == api
