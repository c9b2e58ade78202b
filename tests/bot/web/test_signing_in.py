"""Signing in and out over HTTP: states and proofs, tokens, cookies, sessions."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import sqlalchemy as sa
from pydantic import SecretStr

from bot.store.tables import WebSession
from bot.web.people import SESSION_SECONDS, Sessions
from tests.bot.web.visitors import Browser, numbers, site

__all__ = ["numbers", "site"]


# -- signing in --------------------------------------------------------------------------------


def test_the_sign_in_has_a_state_and_a_proof(site, numbers):
    nobody = Browser(site)
    page = nobody.look("/auth/github?after=/jobs", allow_redirects=False)
    query = parse_qs(urlsplit(page.headers["Location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["state"][0]) >= 32
    assert "HttpOnly" in page.headers["Set-Cookie"]
    # a code that came to another browser, or with another state, is worth nothing
    site.sign_in_as("alice")
    back = requests.get(page.headers["Location"], allow_redirects=False, timeout=60)
    stolen = back.headers["Location"]
    assert requests.get(stolen, timeout=60).status_code == 400
    forged = re.sub(r"state=[^&]*", "state=forged", stolen)
    assert nobody.get(forged, timeout=60).status_code == 400
    assert nobody.get(stolen, timeout=60).url == f"{site.url}/jobs"
    # and is good once
    assert nobody.get(stolen, timeout=60).status_code == 400


def test_a_code_without_its_proof_is_refused_by_github(site, numbers):
    first, second = Browser(site), Browser(site)
    site.sign_in_as("alice")
    begun = first.look("/auth/github", allow_redirects=False).headers["Location"]
    back = requests.get(begun, allow_redirects=False, timeout=60).headers["Location"]
    code = parse_qs(urlsplit(back).query)["code"][0]
    # another browser injects that code into an attempt of its own
    other = second.look("/auth/github", allow_redirects=False).headers["Location"]
    state = parse_qs(urlsplit(other).query)["state"][0]
    page = second.look(f"/auth/callback?code={code}&state={state}")
    assert page.status_code == 400
    assert "bad_verification_code" in page.text


def test_who_does_not_agree_is_not_signed_in(site, numbers):
    site.sign_in_as("")
    page = Browser(site).look("/auth/github")
    assert page.status_code == 400
    assert "did not agree" in page.text
    site.sign_in_as("alice")


@pytest.mark.parametrize(
    "after", ["//evil.example", "/\\evil.example", "https://evil.example", "/%0d%0aX: y", "queue"]
)
def test_the_way_back_stays_here(site, numbers, after):
    site.sign_in_as("alice")
    page = Browser(site).get(f"{site.url}/auth/github", params={"after": after}, timeout=60)
    assert page.url.startswith(site.url + "/")
    assert page.url == f"{site.url}/queue" or page.status_code == 404


def test_signing_out_ends_it_here(site, numbers):
    someone = Browser(site, "alice")
    cookie = someone.cookies["marginalia"]
    someone.submit("/sign-out")
    again = requests.get(
        f"{site.url}/queue", cookies={"marginalia": cookie}, allow_redirects=False, timeout=60
    )
    assert again.status_code == 302


def test_signing_out_takes_the_token_back_at_github(site, numbers):
    someone = Browser(site, "alice")
    person = Sessions(site.ledger.database).find(someone.cookies["marginalia"], site.now())
    asked = {"Authorization": f"Bearer {person.token}"}
    assert requests.get(f"{site.github.url}/user", headers=asked, timeout=60).status_code == 200
    someone.submit("/sign-out")
    assert requests.get(f"{site.github.url}/user", headers=asked, timeout=60).status_code == 401
    (call,) = site.github.calls("DELETE", "/applications/")[-1:]
    assert (call["status"], call["body"]) == (204, {"access_token": "***"})
    # where GitHub is away the person is signed out here all the same
    another = Browser(site, "alice")
    cookie = another.cookies["marginalia"]
    site.github.fault("status", "DELETE", "/applications/*", status=503)
    assert another.submit("/sign-out").status_code == 200
    assert Sessions(site.ledger.database).find(cookie, site.now()) is None


def test_where_no_app_is_the_page_says_what_to_do(site, numbers):
    settings = site.settings.model_copy(
        update={"app_id": None, "client_id": "", "client_secret": None, "token": SecretStr("x")}
    )
    client = site.app(settings).test_client()
    page = client.get("/sign-in").text
    for words in ("MARGINALIA_TOKEN", "/marginalia queue", "make an App", "marginalia serve"):
        assert words in page
    assert "Sign in with GitHub" not in page
    assert client.get("/auth/github").status_code == 503


def test_the_ledger_alone_gives_no_token_away(site, numbers):
    someone = Browser(site, "alice")
    cookie = someone.cookies["marginalia"]
    with site.ledger.database.read() as session:
        rows = session.execute(sa.select(WebSession)).scalars().all()
    text = repr([(row.id, row.token) for row in rows])
    assert "ghp_" not in text
    assert cookie not in text
    person = Sessions(site.ledger.database).find(cookie, site.now())
    assert person is not None
    assert person.token.startswith("ghp_")
    assert person.token not in repr(person)


def test_a_session_ends_by_itself(site, numbers):
    sessions = Sessions(site.ledger.database)
    cookie = sessions.begin("dora", "ghp_x", 1_000.0)
    assert sessions.find(cookie, 1_000.0 + SESSION_SECONDS - 1).login == "dora"
    assert sessions.find(cookie, 1_000.0 + SESSION_SECONDS) is None
    assert sessions.find("", 1_000.0) is None
    assert sessions.find(cookie[:-1] + "?", 1_000.0) is None


def test_a_token_that_github_took_back_ends_the_session(site, numbers):
    someone = Browser(site, "alice")
    person = Sessions(site.ledger.database).find(someone.cookies["marginalia"], site.now())
    site.github.call("DELETE", f"/tokens/{person.token}")
    site.forget_access()
    page = someone.look("/queue")
    assert page.url.endswith("/sign-in")
    assert Sessions(site.ledger.database).find(someone.cookies["marginalia"], site.now()) is None


def test_by_https_the_cookie_is_for_this_host_alone(site, numbers):
    settings = site.settings.model_copy(update={"public_url": "https://bot.example"})
    client = site.app(settings).test_client()
    page = client.get("/auth/github")
    assert "redirect_uri=https%3A%2F%2Fbot.example%2Fauth%2Fcallback" in page.headers["Location"]
    assert "Secure" in page.headers["Set-Cookie"]
    assert page.headers["Strict-Transport-Security"]
    site.sign_in_as("alice")
    back = requests.get(page.headers["Location"], allow_redirects=False, timeout=60).headers[
        "Location"
    ]
    kept = re.search(r"marginalia_sign_in=([^;]+)", page.headers["Set-Cookie"])[1]
    client.set_cookie("marginalia_sign_in", kept, path="/auth")
    done = client.get(f"/auth/callback?{urlsplit(back).query}")
    (cookie,) = [c for c in done.headers.getlist("Set-Cookie") if "__Host-marginalia=" in c]
    assert "; Secure" in cookie
    assert "; HttpOnly" in cookie
    assert "; Path=/" in cookie
    assert "SameSite=Lax" in cookie
    assert "Domain" not in cookie


def test_plain_http_that_others_could_read_is_no_place_to_sign_in(site, numbers):
    client = site.app(site.settings).test_client()
    page = client.get("/sign-in", headers={"Host": "bot.example"})
    assert "https" in page.text
    assert "/auth/github" not in page.text
    assert client.get("/auth/github", headers={"Host": "bot.example"}).status_code == 503


def test_without_the_oauth_client_the_operator_is_told(site, numbers):
    settings = site.settings.model_copy(update={"client_secret": None})
    page = site.app(settings).test_client().get("/sign-in")
    assert "MARGINALIA_CLIENT_SECRET" in page.text
    assert "/auth/callback" in page.text
