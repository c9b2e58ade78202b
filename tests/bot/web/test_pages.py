"""The pages' guard over HTTP: who sees what, what a form must bring, the headers."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlsplit

import pytest
import requests

from bot.feedback import approval
from bot.handover import Handover
from bot.kept_config import GOOD
from bot.settings import Settings
from bot.store.memory import repo_scope
from bot.web.access import FRESH_SECONDS, FRESH_TO_ACT_SECONDS
from bot.web.people import Sessions
from tests.bot.web.site import REPO, add_parked_job, add_waiting
from tests.bot.web.visitors import Browser, alice, bob, mallory, numbers, site, state_of

__all__ = ["alice", "bob", "mallory", "numbers", "site"]


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


def test_the_webhook_and_health_are_as_they_were(site, numbers):
    assert requests.get(f"{site.url}/healthz", timeout=60).json() == {"status": "ok"}
    assert requests.post(f"{site.url}/webhook", timeout=60).status_code in (400, 401, 403)
