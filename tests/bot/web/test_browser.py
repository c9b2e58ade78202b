"""The pages in a real browser: what a person does, by pointer and by keyboard."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from bot.feedback import approval
from tests.bot.web import browser
from tests.bot.web.site import REPO, Site, add_parked_job, add_waiting, furnish, running
from tests.github_double import Double

CSS = By.CSS_SELECTOR
PATIENCE = 60


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory):
    if browser.missing():
        pytest.skip(browser.missing())
    folder: Path = tmp_path_factory.mktemp("site")
    with Double(judge="never") as github, running(github, folder) as made:
        yield made


@pytest.fixture(scope="module")
def numbers(site: Site) -> dict[str, int]:
    return furnish(site)


@pytest.fixture(scope="module")
def window(site: Site):
    with browser.chromium() as driver:
        yield driver


@pytest.fixture
def alice(window, site, numbers):
    """A browser in which alice is signed in; nothing may be wrong in its console at the end."""
    browser.resize(window, browser.WIDE)
    window.get(f"{site.url}/sign-in")
    window.delete_all_cookies()
    site.sign_in_as("alice")
    window.get(f"{site.url}/auth/github")
    assert window.find_element(CSS, ".login").text == "alice"
    yield window
    assert [row for row in window.get_log("browser") if row["level"] == "SEVERE"] == []


def until(window, holds):
    return WebDriverWait(window, PATIENCE).until(lambda _: holds())


def card(window, number: int):
    return window.find_element(By.ID, f"w{number}")


def decided(site: Site, number: int) -> tuple[str, str | None]:
    row = approval.get(site.ledger.database, number)
    assert row is not None
    return row.state, row.by


def test_signing_in_goes_by_github_and_back(window, site, numbers):
    window.get(f"{site.url}/sign-in")
    window.delete_all_cookies()
    site.sign_in_as("alice")
    window.get(f"{site.url}/reviews/{numbers['review']}")
    assert window.current_url.startswith(f"{site.url}/sign-in?after=")
    window.find_element(By.LINK_TEXT, "Sign in with GitHub").click()
    until(window, lambda: window.current_url == f"{site.url}/reviews/{numbers['review']}")
    assert window.find_element(CSS, ".login").text == "alice"
    (cookie,) = window.get_cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    window.find_element(By.XPATH, "//button[text()='Sign out']").click()
    until(window, lambda: "/sign-in" in window.current_url)
    assert window.get_cookies() == []


def test_approve_by_the_button(alice, site):
    (number,) = add_waiting(site, pull=20, count=1)
    alice.get(f"{site.url}/queue")
    card(alice, number).find_element(CSS, "form.approve button").click()
    until(alice, lambda: alice.find_elements(CSS, ".said"))
    assert "Approved" in alice.find_element(CSS, ".said").text
    assert decided(site, number) == ("accepted", "alice")
    assert not alice.find_elements(By.ID, f"w{number}")


def test_edit_and_approve_by_keyboard_alone(alice, site):
    (number,) = add_waiting(site, pull=21, count=1)
    alice.get(f"{site.url}/queue")
    cards = alice.find_elements(CSS, "#queue .card")
    place = [one.get_attribute("id") for one in cards].index(f"w{number}")
    body = alice.find_element(By.TAG_NAME, "body")
    body.send_keys("j" * (place + 1))
    assert alice.switch_to.active_element.get_attribute("id") == f"w{number}"
    alice.switch_to.active_element.send_keys("e")
    text = alice.switch_to.active_element
    assert text.get_attribute("name") == "body"
    text.send_keys(Keys.CONTROL, "a")
    text.send_keys(Keys.NULL, "Name the errors. aerjk are letters here.")
    text.send_keys(Keys.TAB)
    suggestion = alice.switch_to.active_element
    assert suggestion.get_attribute("name") == "suggestion"
    suggestion.send_keys(Keys.CONTROL, Keys.END)
    suggestion.send_keys(Keys.NULL, Keys.ENTER, "                pass")
    suggestion.send_keys(Keys.CONTROL, Keys.ENTER)
    until(alice, lambda: alice.find_elements(CSS, ".said"))
    row = approval.get(site.ledger.database, number)
    assert row is not None
    assert (row.state, row.by) == ("edited", "alice")
    assert row.body == "Name the errors. aerjk are letters here."
    assert row.suggestion == ("            except requests.RequestException:\n                pass")
    # the next one has the focus: one key for each is enough
    assert alice.switch_to.active_element.get_attribute("class") == "card waiting"


def test_single_keys_can_be_turned_off(alice, site):
    add_waiting(site, pull=22, count=1)
    alice.get(f"{site.url}/queue")
    alice.find_element(CSS, ".keys summary").click()
    alice.find_element(By.ID, "single-keys").click()
    alice.find_element(By.TAG_NAME, "body").send_keys("j")
    assert alice.switch_to.active_element.get_attribute("class") != "card waiting"
    alice.find_element(By.ID, "single-keys").click()


def test_an_empty_edit_is_told_beside_its_text(alice, site):
    (number,) = add_waiting(site, pull=23, count=1)
    alice.get(f"{site.url}/queue")
    here = card(alice, number)
    here.find_element(CSS, "details.edit summary").click()
    text = here.find_element(CSS, "textarea[name=body]")
    text.clear()
    text.send_keys("   ")
    here.find_element(CSS, "details.edit button").click()
    until(alice, lambda: alice.find_elements(CSS, f"#w{number} .problem"))
    assert "without words" in alice.find_element(CSS, f"#w{number} .problem").text
    assert decided(site, number) == ("waiting", None)
    (noted,) = alice.get_log("browser")  # only that the form was refused
    assert "status of 400" in noted["message"]


def test_reject_by_key(alice, site):
    first, second = add_waiting(site, pull=24, count=2)
    alice.get(f"{site.url}/queue")
    alice.execute_script("document.getElementById(arguments[0]).focus()", f"w{first}")
    alice.switch_to.active_element.send_keys("r")
    until(alice, lambda: alice.find_elements(CSS, ".said"))
    assert decided(site, first) == ("rejected", "alice")
    assert decided(site, second) == ("waiting", None)


def test_where_one_only_reads_there_is_nothing_to_press(alice, site, numbers):
    alice.get(f"{site.url}/queue?repo=acme/landing")
    here = card(alice, numbers["readable"])
    assert here.find_elements(By.TAG_NAME, "button") == []
    assert "write permission" in here.text


def test_a_review_explains_itself(alice, site, numbers):
    alice.get(f"{site.url}/reviews")
    alice.find_element(CSS, f'a[href="/reviews/{numbers["review"]}"]').click()
    until(alice, lambda: alice.current_url.endswith(f"/reviews/{numbers['review']}"))
    added = [row.text for row in alice.find_elements(CSS, ".diff tr.add .text")]
    assert "    def fetch(self, path, retries=3, seen=[]):" in [one.rstrip() for one in added]
    verdicts = [one.text for one in alice.find_elements(CSS, ".candidate .verdict")]
    assert sorted(verdicts) == [
        "Not sure enough",
        "Only restates the change",
        "Posted",
        "Posted",
        "Says what another one says",
    ]
    # the candidate stands under its line, with its scores and, opened, its grounds
    line = alice.find_element(CSS, "tr.remark")
    assert "The list in seen=[]" in line.text
    above = line.find_element(By.XPATH, "preceding-sibling::tr[1]")
    assert "seen=[]" in above.text
    pairs = dict(
        zip(
            [one.text for one in line.find_elements(CSS, ".numbers dt")],
            [one.text for one in line.find_elements(CSS, ".numbers dd")],
            strict=True,
        )
    )
    assert pairs["Relevance"] == "0.67"
    assert pairs["Judge"] == "0.91"
    line.find_element(CSS, ".grounds summary").click()
    assert "Do not use mutable data structures" in line.find_element(CSS, ".pairs").text
    assert "checkout/logo.png" in alice.find_element(CSS, ".coverage").text


def test_the_calibration_is_plotted(alice, site):
    alice.get(f"{site.url}/feedback?repo={REPO}")
    until(alice, lambda: alice.find_elements(CSS, "svg.plot circle.dot"))
    plot = alice.find_element(CSS, "svg.plot")
    dots = plot.find_elements(CSS, "circle.dot")
    assert len(dots) == len(plot.find_elements(CSS, "line.interval")) >= 3
    assert plot.size["width"] > 200
    names = [one.text for one in alice.find_elements(CSS, ".shares caption")]
    assert names[:3] == ["By origin", "By rule", "By month"]
    faded = [one.text for one in alice.find_elements(CSS, ".tag.faded")]
    assert faded == ["faded"]
    # the shapes have their colours from the sheet, though inline style is forbidden
    assert alice.execute_script("return getComputedStyle(arguments[0]).fill", dots[0]) != "none"


def test_a_parked_job_is_retried(alice, site):
    name = add_parked_job(site, pull=30)
    alice.get(f"{site.url}/jobs?state=parked")
    form = alice.find_element(CSS, f'form[action="/jobs/{name}/retry"]')
    form.find_element(By.TAG_NAME, "button").click()
    until(alice, lambda: alice.find_elements(CSS, ".said"))
    job = site.ledger.jobs.get(name)
    assert job is not None
    assert job.state == "queued"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_page_scrolls_sideways_on_a_phone(alice, site, numbers, dark):
    paths = ["/queue", "/reviews", f"/reviews/{numbers['review']}", "/feedback", "/jobs",
             f"/feedback?repo={REPO}", "/connections"]  # fmt: skip
    grounds = set()
    for path in paths:
        alice.get(site.url + path)
        browser.resize(alice, (320, 640), dark)
        wide, ground = alice.execute_script(
            "return [document.documentElement.scrollWidth,"
            " getComputedStyle(document.body).backgroundColor]"
        )
        assert wide <= 320, path
        grounds.add(ground)
    assert grounds == {"rgb(15, 19, 24)" if dark else "rgb(246, 247, 249)"}


def test_every_control_has_a_name_and_headings_go_down_step_by_step(alice, site, numbers):
    for path in ("/queue", "/reviews", f"/reviews/{numbers['review']}", f"/feedback?repo={REPO}",
                 "/jobs", "/connections"):  # fmt: skip
        alice.get(site.url + path)
        nameless, levels, mains = alice.execute_script("""
            const named = (e) => e.labels?.length || e.textContent.trim() || e.ariaLabel;
            const controls = [...document.querySelectorAll(
                "button, a, select, textarea, summary, input:not([type=hidden])")];
            return [
                controls.filter((e) => !named(e)).map((e) => e.outerHTML),
                [...document.querySelectorAll("h1, h2, h3, h4")].map((h) => +h.tagName[1]),
                document.querySelectorAll("main").length,
            ];
        """)
        assert nameless == [], path
        assert mains == 1
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_focus_is_seen(alice, site):
    alice.get(f"{site.url}/queue")
    alice.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = alice.switch_to.active_element
    assert skip.text == "Skip to the content"
    style = alice.execute_script(
        "const s = getComputedStyle(arguments[0]); return [s.outlineStyle, s.outlineWidth]", skip
    )
    assert style == ["solid", "3px"]


def test_under_a_path_a_person_signs_in_decides_and_signs_out(
    window, tmp_path_factory: pytest.TempPathFactory
):
    folder: Path = tmp_path_factory.mktemp("under")
    with (
        Double(judge="never") as github,
        running(github, folder, "/tools/marginalia") as site,
    ):
        (number,) = add_waiting(site, count=1)
        site.sign_in_as("alice")
        browser.resize(window, browser.WIDE)
        window.get(f"{site.url}/reviews")
        window.delete_all_cookies()  # those of another test's site on this host
        window.get(f"{site.url}/reviews")
        window.find_element(By.LINK_TEXT, "Sign in with GitHub").click()
        until(window, lambda: window.current_url == f"{site.url}/reviews")
        window.find_element(By.PARTIAL_LINK_TEXT, "Queue").click()
        card(window, number).find_element(CSS, "form.approve button").click()
        until(window, lambda: window.find_elements(CSS, ".said"))
        assert window.current_url.startswith(f"{site.url}/queue")
        assert decided(site, number) == ("accepted", "alice")
        cookies = window.get_cookies()
        assert {one["path"] for one in cookies} == {"/tools/marginalia"}, cookies
        window.find_element(By.XPATH, "//button[text()='Sign out']").click()
        until(window, lambda: window.current_url == f"{site.url}/sign-in")
        assert window.get_cookies() == []  # nothing is left behind
        assert [row for row in window.get_log("browser") if row["level"] == "SEVERE"] == []
