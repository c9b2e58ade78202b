"""The pages' guard over HTTP: who comes in, who sees what, what a form must bring, the headers."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import sqlalchemy as sa
from pydantic import SecretStr

from bot.feedback import approval
from bot.handover import Handover
from bot.kept_config import GOOD
from bot.settings import Settings
from bot.store.memory import repo_scope
from bot.store.tables import WebSession
from bot.web.access import FRESH_SECONDS, FRESH_TO_ACT_SECONDS
from bot.web.people import SESSION_SECONDS, Sessions
from tests.bot.web.site import REPO, Site, add_parked_job, add_waiting, furnish, running
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


# -- who sees what -----------------------------------------------------------------------------


def test_strangers_are_asked_to_sign_in_and_come_back(site, numbers):
    nobody = Browser(site)
    for path in ("/", "/queue", "/reviews", f"/reviews/{numbers['review']}", "/jobs"):
        page = nobody.look(path, allow_redirects=False)
        assert page.status_code == 302
        assert urlsplit(page.headers["Location"]).path == "/sign-in"
    assert nobody.submit("/queue/1/approve", csrf=False).status_code == 401


def test_without_access_it_is_not_there(site, numbers, alice, mallory):
    for path in (
        f"/reviews/{numbers['secret']}",
        "/queue?repo=acme/ledger-of-secrets",
        "/reviews?repo=acme/ledger-of-secrets",
        "/feedback?repo=acme/ledger-of-secrets",
    ):
        assert alice.look(path).status_code == 404, path
    assert alice.submit(f"/queue/{numbers['foreign']}/approve").status_code == 404
    assert alice.submit(f"/queue/{numbers['foreign']}/reject").status_code == 404
    assert state_of(site, numbers["foreign"]) == "waiting"
    # the same answer as for what does not exist: nobody learns that it does
    gone = alice.look("/reviews/999999")
    there = alice.look(f"/reviews/{numbers['secret']}")
    assert (gone.status_code, gone.text) == (there.status_code, there.text)
    assert mallory.look(f"/reviews/{numbers['review']}").status_code == 404
    for path in ("/queue", "/reviews", "/jobs", "/feedback", "/connections"):
        page = mallory.look(path)
        assert page.status_code == 200
        assert "acme/" not in page.text, path
    assert "ledger-of-secrets" not in alice.look("/reviews").text + alice.look("/jobs").text


def test_without_write_nothing_is_decided(site, numbers, alice, bob):
    page = bob.look(f"/reviews/{numbers['review']}")
    assert page.status_code == 200
    # who says what a remark is grounded in
    assert "Do not use mutable data structures for argument defaults (ruff:B006)" in page.text
    (number,) = add_waiting(site, pull=40, count=1)
    assert bob.submit(f"/queue/{number}/approve").status_code == 403
    assert bob.submit(f"/queue/{number}/reject").status_code == 403
    assert alice.submit(f"/queue/{numbers['readable']}/approve").status_code == 403
    assert state_of(site, number) == "waiting"
    name = add_parked_job(site, pull=41)
    assert bob.submit(f"/jobs/{name}/retry").status_code == 403
    assert site.ledger.jobs.get(name).state == "parked"


def test_a_right_that_is_taken_is_gone_within_seconds(site, numbers, monkeypatch):
    site.github.set_permission(REPO, "carol", "write")
    carol = Browser(site, "carol")
    (number,) = add_waiting(site, pull=42, count=1)
    token = carol.csrf()
    site.github.set_permission(REPO, "carol", "read")
    assert FRESH_TO_ACT_SECONDS <= 5 < FRESH_SECONDS <= 60
    monkeypatch.setattr("bot.web.desk.FRESH_TO_ACT_SECONDS", 0.0)
    answer = carol.submit(f"/queue/{number}/approve", {"csrf": token}, csrf=False)
    assert answer.status_code == 403
    assert state_of(site, number) == "waiting"


# -- what a form must bring --------------------------------------------------------------------


@pytest.mark.parametrize("csrf", [None, "", "0" * 64, "é"])
def test_a_form_without_its_secret_is_refused(site, alice, csrf):
    (number,) = add_waiting(site, pull=43, count=1)
    data = {} if csrf is None else {"csrf": csrf}
    assert alice.submit(f"/queue/{number}/approve", data, csrf=False).status_code == 400
    assert alice.submit("/sign-out", data, csrf=False).status_code == 400
    assert state_of(site, number) == "waiting"
    assert alice.look("/queue").status_code == 200


def test_another_persons_secret_does_not_count(site, alice, bob):
    (number,) = add_waiting(site, pull=44, count=1)
    answer = alice.submit(f"/queue/{number}/reject", {"csrf": bob.csrf()}, csrf=False)
    assert answer.status_code == 400
    assert state_of(site, number) == "waiting"


def test_a_form_from_another_site_is_refused(site, alice):
    (number,) = add_waiting(site, pull=45, count=1)
    answer = alice.post(
        f"{site.url}/queue/{number}/approve",
        data={"csrf": alice.csrf()},
        headers={"Sec-Fetch-Site": "cross-site"},
        timeout=60,
    )
    assert answer.status_code == 400
    assert state_of(site, number) == "waiting"


def test_nothing_changes_by_a_get(alice):
    for path in ("/queue/1/approve", "/queue/1/reject", "/sign-out", "/jobs/x/retry"):
        assert alice.look(path).status_code in (404, 405)


# -- deciding ----------------------------------------------------------------------------------


def test_deciding_twice_is_told(site, alice):
    (number,) = add_waiting(site, pull=46, count=1)
    assert "not posted" in alice.submit(f"/queue/{number}/reject").text
    assert state_of(site, number) == "rejected"
    assert "before" in alice.submit(f"/queue/{number}/approve").text
    assert state_of(site, number) == "rejected"


def test_what_people_and_models_write_is_shown_and_never_run(site, alice):
    (number,) = add_waiting(site, pull=47, count=1)
    bad = "<script>alert(1)</script> ![x](https://evil.example/p.png) [y](javascript:alert(2))"
    with site.ledger.database.write() as session:
        row = session.get(approval.ApprovalRow, number)
        row.body, row.suggestion, row.path = bad, "</textarea><script>", '"><script>x.py'
    page = alice.look("/queue?repo=acme/checkout&page=1000000")
    assert page.status_code == 200
    pages = "".join(alice.look(f"/queue?page={at}").text for at in range(1, 9))
    assert "&lt;script&gt;alert(1)" in pages
    assert "<script>" not in pages
    assert "<img" not in pages
    assert 'href="javascript:' not in pages
    alice.submit(f"/queue/{number}/reject")


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


def test_what_is_approved_in_a_persons_name_is_handed_over_sealed(site, numbers, alice):
    (number,) = add_waiting(site, pull=49, count=1)
    config = "mode: approve\naccepted_as: person\n"
    place = (repo_scope(site.ids[REPO]), f"{GOOD}{REPO}")
    site.ledger.memory.put(*place, config, site.now())
    try:
        assert "posted in your name, as alice" in alice.look("/queue?page=1000000").text
        alice.submit(f"/queue/{number}/approve")
    finally:
        site.ledger.memory.forget(*place)
    with site.ledger.database.read() as session:
        row = session.get(approval.ApprovalRow, number)
        kept = row.sealed
    assert "ghp_" not in kept
    handover = Handover.of(site.settings)
    assert handover.open(kept, number, "alice").startswith("ghp_")
    assert handover.open(kept, number, "bob") is None
    assert handover.open(kept, number + 1, "alice") is None
    assert Handover("another secret").open(kept, number, "alice") is None
    # who signs out now is signed out here, and at GitHub when that stands there
    revoked = len(site.github.calls("DELETE", "/applications/"))
    leaving = Browser(site, "alice")
    cookie = leaving.cookies["marginalia"]
    page = leaving.submit("/sign-out").text
    assert "What you approved last (1) is posted in your name in a moment" in page
    assert Sessions(site.ledger.database).find(cookie, site.now()) is None
    assert len(site.github.calls("DELETE", "/applications/")) == revoked
    with site.ledger.database.write() as session:
        session.get(approval.ApprovalRow, number).sealed = ""
    (plain,) = add_waiting(site, pull=49, count=1)
    assert "in your name" not in alice.look("/queue?page=1000000").text
    alice.submit(f"/queue/{plain}/approve")
    with site.ledger.database.read() as session:
        assert session.get(approval.ApprovalRow, plain).sealed == ""


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


def test_while_github_is_away_nothing_new_is_shown_and_nothing_decided(site, numbers):
    someone = Browser(site, "alice")
    (number,) = add_waiting(site, pull=48, count=1)
    token = someone.csrf()
    site.forget_access()
    site.github.fault("status", path="/user/installations", status=503, times=50)
    try:
        page = someone.look("/queue")
        assert page.status_code == 503
        assert "Try again" in page.text
        answer = someone.submit(f"/queue/{number}/approve", {"csrf": token}, csrf=False)
        assert answer.status_code == 503
        assert state_of(site, number) == "waiting"
    finally:
        site.github.clear_faults()
    assert someone.look("/queue").status_code == 200


def test_a_repository_that_the_operator_does_not_serve_is_not_there(site, numbers, monkeypatch):
    monkeypatch.setattr(Settings, "serves", lambda self, name: name != "acme/landing")
    someone = Browser(site, "alice")
    assert someone.look("/reviews?repo=acme/landing").status_code == 404
    assert someone.look(f"/reviews?repo={REPO}").status_code == 200


# -- headers -----------------------------------------------------------------------------------


def test_pages_are_locked_down(site, numbers, alice):
    for page in (
        alice.look("/queue"),
        alice.look("/reviews/999999"),
        Browser(site).look("/sign-in"),
        alice.look("/assets/queue.js"),
    ):
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in page.headers["Content-Security-Policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.headers["Referrer-Policy"] == "same-origin"
    assert alice.look("/queue").headers["Cache-Control"] == "no-store"


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(site, numbers, alice):
    for path in ("/queue", "/reviews", f"/reviews/{numbers['review']}",
                 f"/feedback?repo={REPO}", "/jobs", "/connections"):  # fmt: skip
        text = alice.look(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=", text), path
        for tag in re.findall(r"<(?:script|link|img)[^>]*>", text):
            address = unescape(re.search(r'(?:src|href)="([^"]*)"', tag)[1])
            assert address.startswith("/assets/")
            assert alice.look(address).status_code == 200


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


def test_under_a_path_of_a_host_everything_stays_there(site, numbers):
    address = "https://tools.example/team/marginalia"
    settings = site.settings.model_copy(update={"public_url": address})
    client = site.app(settings).test_client()
    # whether the proxy in front takes the path away or not
    for path in ("/team/marginalia/reviews", "/reviews"):
        page = client.get(path)
        assert page.headers["Location"] == "/team/marginalia/sign-in?after=/reviews"
    begun = client.get("/team/marginalia/auth/github?after=/reviews")
    assert "marginalia%2Fauth%2Fcallback" in begun.headers["Location"]
    assert "Path=/team/marginalia/auth" in begun.headers["Set-Cookie"]
    site.sign_in_as("alice")
    back = requests.get(begun.headers["Location"], allow_redirects=False, timeout=60).headers[
        "Location"
    ]
    assert back.startswith(f"{address}/auth/callback?")
    kept = re.search(r"marginalia_sign_in=([^;]+)", begun.headers["Set-Cookie"])[1]
    client.set_cookie("marginalia_sign_in", kept, path="/team/marginalia/auth")
    done = client.get(f"/team/marginalia/auth/callback?{urlsplit(back).query}")
    assert done.headers["Location"] == "/team/marginalia/reviews"
    (cookie,) = [c for c in done.headers.getlist("Set-Cookie") if "__Secure-marginalia=" in c]
    assert "; Path=/team/marginalia" in cookie
    assert client.get("/healthz").json == {"status": "ok"}
    assert client.post("/team/marginalia/webhook").status_code in (400, 401, 403)


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


def test_the_webhook_and_health_are_as_they_were(site, numbers):
    assert requests.get(f"{site.url}/healthz", timeout=60).json() == {"status": "ok"}
    assert requests.post(f"{site.url}/webhook", timeout=60).status_code in (400, 401, 403)
