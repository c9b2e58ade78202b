"""``simulate`` and a pull request's change, against the double of GitHub."""

from __future__ import annotations

import json
import time

import pytest

from bot.commands.simulate import printable, shown_text, simulate
from bot.errors import FatalError
from bot.github.auth import TokenIdentity
from bot.github.forge import GitHubForge
from bot.repo_config import CONFIG_PATH
from bot.review.remote import change_of_pull
from tests.bot.commands.pulls import (
    BASE,
    CHANGED,
    Place,
    call,
    empty_ledger,
    github,
    keep_review,
    place,
    said,
    simulated,
)

__all__ = ["empty_ledger", "github", "place"]


# the change


def test_a_pull_request_s_change_is_read_with_both_sides(place: Place) -> None:
    with change_of_pull(place.url + "/files", place.settings()) as (change, sources):
        assert [file.path for file in change] == ["src/a.py"]
        assert sources.base("src/a.py") == BASE["src/a.py"].encode()
        assert sources.head("src/a.py") == CHANGED["src/a.py"].encode()
        assert change.head == place.pull.head_sha
    assert place.methods() == {"GET"}


def test_what_github_does_not_show_is_told(place: Place) -> None:
    place.github.limits(listed_files=0)
    notes: list[str] = []
    try:
        with change_of_pull(place.url, place.settings(), notes.append) as (change, _):
            assert [file.path for file in change] == ["src/a.py"]
    finally:
        place.github.reset_limits()
    assert ["read by git instead" in note for note in notes] == [True]


def test_the_app_reads_with_its_installation_s_token(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = place.repo.partition("/")[0]
    app = place.github.create_app(f"Marginalia {owner}", owner=owner)
    monkeypatch.delenv("MARGINALIA_TOKEN")
    monkeypatch.setenv("MARGINALIA_APP_ID", str(app.id))
    monkeypatch.setenv("MARGINALIA_PRIVATE_KEY", app.pem)
    with (
        pytest.raises(FatalError, match=f"not installed on {place.repo}"),
        change_of_pull(place.url, place.settings()),
    ):
        pass
    since = len(place.github.calls())
    place.github.install(app, owner)
    with change_of_pull(place.url, place.settings()) as (change, _):
        assert change.head == place.pull.head_sha
    written = [c for c in place.github.calls()[since:] if c["method"] != "GET"]
    assert [c["path"].rpartition("/")[2] for c in written] == ["access_tokens"]


@pytest.mark.parametrize(
    ("env", "tail", "says"),
    [
        ({}, "/..", "no owner's or repository's name"),
        ({}, "9", "there is no such thing, or these credentials may not see it"),
        ({"MARGINALIA_TOKEN": "ghp_wrong"}, "", "does not take these credentials"),
        ({"MARGINALIA_TOKEN": None}, "", "no way to speak to GitHub: set MARGINALIA_APP_ID"),
        ({"MARGINALIA_GITHUB_URL": "https://ghe.example"}, "", "MARGINALIA_GITHUB_API_URL"),
        (
            {"MARGINALIA_TOKEN": None, "MARGINALIA_APP_ID": "1", "MARGINALIA_PRIVATE_KEY": "x"},
            "",
            "the App's private key cannot be used",
        ),
        ({"MARGINALIA_DATABASE_URL": "oracle://x"}, "", "MARGINALIA_DATABASE_URL"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_2(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    env: dict[str, str | None],
    tail: str,
    says: str,
) -> None:
    for name, value in env.items():
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)
    url = f"{place.github.url}/acme{tail}/pull/1" if tail.startswith("/") else place.url + tail
    assert says in said(call(simulate, url))


# simulate


def test_what_would_be_posted_is_what_the_post_makes_of_it(place: Place) -> None:
    """The draft of a simulation, given to the double, stands there word for word."""
    done = simulated(place)
    assert place.methods() == {"GET"}
    assert done.posted
    assert done.draft is not None
    forge = GitHubForge(TokenIdentity(place.github.token("alice"), place.github.url))
    made = forge.create_pending_review(done.ref, done.state.head, done.draft)
    forge.submit_review(done.ref, made.id)
    (review,) = place.github.reviews(place.pull)
    assert review["body"] == done.draft.body
    assert (
        review["body"]
        .rstrip()
        .endswith(
            f"<!-- marginalia:review {done.ref.repository_id}:1:"
            f"{done.state.merge_base}:{done.state.head}:0 -->"
        )
    )
    posted = [(c["path"], c["line"], c["side"], c["body"]) for c in review["comments"]]
    drafted = [(c.path, c.line, c.side.value, c.body) for c in done.draft.comments]
    assert sorted(posted) == sorted(drafted)
    assert len(posted) == 2


def test_the_command_shows_the_request_and_writes_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way with the real pipeline (analyzers alone)."""
    monkeypatch.setenv("MARGINALIA_USE_MODEL", "false")
    monkeypatch.setenv("MARGINALIA_SURE", "0")
    done = call(simulate, place.url, "--json")
    assert done.exit_code == 0, done.exception
    made = json.loads(done.stdout)
    assert made["posted"] is True
    assert made["request"]["path"] == f"/repos/{place.repo}/pulls/1/reviews"
    body = made["request"]["body"]
    assert body["commit_id"] == place.pull.head_sha
    assert "event" not in body
    assert any(c["line"] == 12 and "B006" in c["body"] for c in body["comments"])
    assert place.methods() == {"GET"}
    assert place.github.reviews(place.pull) == []
    assert not (place.folder / "data").exists()


def test_the_text_for_a_person_has_every_word_of_the_draft(place: Place) -> None:
    done = simulated(place)
    assert done.draft is not None
    text = shown_text(done, with_ledger=False)
    assert f"{place.repo}#1 at {place.pull.head_sha}" in text
    assert "this is the pull request's first review" in text
    assert "One review, submitted as COMMENT, with 2 comments:" in text
    assert "=== comment 1 of 2: src/a.py, RIGHT, line 13\n" in text
    for words in (done.draft.body, *(comment.body for comment in done.draft.comments)):
        assert words in text


def test_why_nothing_would_be_posted(place: Place) -> None:
    assert simulated(place, repositories=("other/*",)).reason == (
        f"MARGINALIA_REPOSITORIES does not include {place.repo}"
    )
    shadowed = simulated(place, shadow=True)
    assert "shadow" in shadowed.reason
    assert shadowed.draft is not None
    assert not shadowed.posted
    place.github.act(place.pull, "draft")
    assert simulated(place).reason == "a draft"
    assert simulated(place, review_drafts=True).posted
    assert simulated(place, full=True).posted
    place.github.act(place.pull, "close")
    done = simulated(place, full=True)
    assert (done.reason, done.draft) == ("the pull request is closed", None)
    text = call(simulate, place.url)
    assert "Nothing would be posted: the pull request is closed." in text.stdout
    assert json.loads(call(simulate, place.url, "--json").stdout)["request"] is None


def test_the_default_branch_configures_and_its_faults_are_told(place: Place) -> None:
    place.github.push(place.repo, "main", {CONFIG_PATH: "max_comments: 1\n"})
    done = simulated(place)
    assert done.draft is not None
    assert len(done.draft.comments) == 1
    place.github.push(place.repo, "main", {CONFIG_PATH: "max_comments: many\n"})
    done = simulated(place)
    assert done.draft is not None
    assert len(done.draft.comments) == 2
    assert any("max_comments" in line for line in done.told)
    assert place.github.comments(place.pull) == []
    assert "POST" not in place.methods()


def test_the_ledger_s_memory_counts_and_stays_as_it_is(place: Place) -> None:
    ledger = place.ledger()
    ref, state, _ = keep_review(place, ledger)
    assert simulated(place).reason == "this patch was reviewed already"
    full = simulated(place, full=True)
    assert full.draft is not None
    assert full.draft.comments == ()
    assert full.draft.marker.endswith(f"{state.head}:1 -->")
    changed = CHANGED["src/a.py"].replace("n20 = 20\n", "n20 = 21\n")
    place.github.push(place.repo, "change", {"src/a.py": changed})
    done = simulated(place)
    assert done.result is not None
    added = [line.text for f in done.result.change for h in f.hunks for line in h.added]
    assert added == ["n20 = 21"]
    ledger.memory.put(f"pull:{ref.repository_id}:{ref.number}", "paused", True, time.time())
    place.github.push(place.repo, "main", {CONFIG_PATH: "max_comments: 1\n"})
    assert simulated(place).reason == "paused"
    scope = f"repo:{ref.repository_id}"
    assert ledger.memory.get(scope, f"config:good:{place.repo}") is None
    assert len(ledger.jobs.recent()) == 1
    ledger.close()


def test_nothing_of_a_pull_request_steers_the_terminal() -> None:
    assert printable("a\x1b[31m\tb\r\n\x9bc\udcff @\N{ZERO WIDTH SPACE}d") == (
        "a\ufffd[31m\tb\ufffd\n\ufffdc\ufffd @\N{ZERO WIDTH SPACE}d"
    )
