"""``simulate``, ``explain`` and a pull request's change, against the double of GitHub."""

from __future__ import annotations

import itertools
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from bot.commands.explain import explain
from bot.commands.simulate import printable, shown_text, simulate
from bot.errors import FatalError
from bot.github.auth import TokenIdentity
from bot.github.compose import GitHubComposer
from bot.github.fingerprints import fingerprint
from bot.github.forge import GitHubForge
from bot.jobs.forge import Plan, PullRef, PullState, ReviewRequest, job_marker
from bot.jobs.queue import JobQueue
from bot.repo_config import CONFIG_PATH
from bot.review.remote import change_of_pull, find_pull, pull_url
from bot.review.render import render_review
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Progress,
    Reason,
    ReviewOptions,
    ReviewResult,
    Sources,
    Verdict,
)
from bot.service.simulation import Simulated, Simulation
from bot.settings import Settings, load
from bot.store.ledger import Ledger
from bot.store.lookup import existing_ledger
from bot.store.tables import ReviewRowState
from models.change import Change, Side
from models.review_types import (
    Candidate,
    CandidateKind,
    PseudoReference,
    ReferenceKind,
    Score,
)
from tests.bot.service import migrate_all
from tests.github_double import Double, Pull

BASE = {"src/a.py": "".join(f"n{n} = {n}\n" for n in range(1, 31)), "README.md": "hello\n"}
CHANGED = {
    "src/a.py": BASE["src/a.py"].replace(
        "n10 = 10\n", "\n\ndef add(item, items=[]):\n    items.append(item)\n    return items\n\n\n"
    )
}
CLAIM = PseudoReference(
    ReferenceKind.CLAIM, "add gets a list by default", (13,), "syntax", "src/a.py"
)
_names = itertools.count(1)


@dataclass(frozen=True)
class Place:
    """A repository with an open pull request and how a person there is set up."""

    github: Double
    repo: str
    pull: Pull
    folder: Path
    empty_ledger: Path

    @property
    def url(self) -> str:
        return f"{self.github.url}/{self.repo}/pull/{self.pull.number}"

    def settings(self, **more: object) -> Settings:
        return load(**more)

    def ledger(self) -> Ledger:
        data = self.folder / "data"
        data.mkdir()
        shutil.copy(self.empty_ledger, data / "marginalia.db")
        return Ledger(self.settings().database)

    def methods(self) -> set[str]:
        return {call["method"] for call in self.github.calls(path=self.repo)}


@pytest.fixture(scope="module")
def github() -> Iterator[Double]:
    with Double(judge="never") as double:
        yield double


@pytest.fixture(scope="module")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    migrate_all(f"sqlite:///{path}")
    return path


@pytest.fixture
def place(
    github: Double, empty_ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    repo = f"tools{next(_names)}/shop"
    github.create_repo(repo, BASE, collaborators={"alice": "write"})
    pull = github.open_pr(repo, CHANGED)
    for name in [name for name in os.environ if name.startswith("MARGINALIA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MARGINALIA_GITHUB_API_URL", github.url)
    monkeypatch.setenv("MARGINALIA_GITHUB_URL", github.url)
    monkeypatch.setenv("MARGINALIA_TOKEN", github.token("alice"))
    monkeypatch.setenv("MARGINALIA_DATA_DIR", str(tmp_path / "data"))
    yield Place(github, repo, pull, tmp_path, empty_ledger)
    github.clear_faults()


class RemarksOnAdded:
    """Says the same of every added line that has code; the first is not sure enough to post."""

    def review(
        self, change: Change, sources: Sources, options: ReviewOptions, progress: Progress
    ) -> ReviewResult:
        judged = []
        for file in change:
            assert sources.head(file.path) is not None
            for line in (line for hunk in file.hunks for line in hunk.added if line.text.strip()):
                said = Candidate(
                    CandidateKind.COMMENT, "t5:crb", file.path, Side.RIGHT, line.new_no,
                    line.new_no, f"Say why: {line.text.strip()}", confidence=0.75, weakest=0.25,
                )  # fmt: skip
                name = fingerprint(said, file)
                verdict = Verdict(Reason.POSTED)
                if not judged:
                    verdict = Verdict(Reason.NOT_CONFIDENT, "0.40 sure; 0.50 asked for")
                if name in options.known_fingerprints:
                    verdict = Verdict(Reason.ALREADY_SAID, "it was posted at an earlier head")
                score = Score(0.5, 0.25, 1 / 3, "sig:1", 0.625, CLAIM, 0.875)
                judged.append(JudgedCandidate(said, score, verdict, len(judged) + 1, name))
        coverage = tuple(FileCoverage(f.path, f.coverage) for f in change)
        review = render_review(change, judged, coverage, (), "sig:1")
        return ReviewResult(change, review, tuple(judged), coverage, (CLAIM,))


def call(command: object, *arguments: str) -> Result:
    app = typer.Typer()
    app.command()(command)  # type: ignore[arg-type]
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return CliRunner().invoke(app, list(arguments))
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def said(done: Result) -> str:
    """The line of a command that refused."""
    assert isinstance(done.exception, FatalError), done.output
    assert done.exception.code == 2
    assert "\n" not in str(done.exception)
    return str(done.exception)


def silent(stage: str, done: int, total: int) -> None:
    """No progress."""


def simulated(place: Place, full: bool = False, **settings: object) -> Simulated:
    chosen = place.settings(**settings)
    identity = TokenIdentity(chosen.token.get_secret_value(), chosen.github_api_url)  # type: ignore[union-attr]
    with existing_ledger(chosen) as ledger:
        simulation = Simulation(chosen, identity, ledger, RemarksOnAdded, full)
        return simulation.run(find_pull(identity, pull_url(place.url, chosen)), silent)


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


def keep_review(place: Place, ledger: Ledger) -> tuple[PullRef, PullState, ReviewResult]:
    """A review as the service makes it: requested, kept, posted on the double, noted."""
    identity = TokenIdentity(place.github.token("alice"), place.github.url)
    forge = GitHubForge(identity, place.github.url)
    ref = find_pull(identity, pull_url(place.url, place.settings()))
    state = forge.pull(ref)
    queue = JobQueue(place.settings().database, "1")
    asked = ledger.jobs.request(ref, state, ReviewRequest(), None, time.time(), queue.review)
    queue.close()
    job = ledger.jobs.get(asked.job_id)
    assert job is not None
    fetched = forge.change(ref, state, None)
    options = ReviewOptions()
    result = RemarksOnAdded().review(fetched.change, fetched.sources, options, silent)
    draft = GitHubComposer().compose(result, Plan(), job_marker(job.id))
    assert draft is not None
    kept = ledger.reviews.save_draft(
        job, result, draft, draft.marker, ("a note",), ReviewRowState.DRAFTED, time.time()
    )
    made = forge.create_pending_review(ref, state.head, draft)
    ledger.reviews.set_posted(kept, forge.submit_review(ref, made.id), time.time())
    ledger.reviews.set_comments(kept, forge.posted_comments(ref, made.id))
    return ref, state, result


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


# explain


def test_a_comment_and_a_review_are_explained_by_their_addresses(place: Place) -> None:
    ledger = place.ledger()
    _, _, result = keep_review(place, ledger)
    ledger.close()
    (review,) = place.github.reviews(place.pull)
    comment = min(review["comments"], key=lambda one: one["line"])
    for address in (comment["html_url"], f"{place.url}/files#r{comment['id']}"):
        text = call(explain, address).stdout
        assert "> Say why: items.append(item)" in text
        assert "t5:crb (comment, warning)" in text
        assert "verdict            posted" in text
        assert "conciseness        0.50" in text
        assert "comprehensiveness  0.25" in text
        assert "relevance          0.33" in text
        assert "claim, cosine 0.88: add gets a list by default" in text
        assert "probability of 0.62" in text
        assert "0.75; its least likely word 0.25" in text
        assert "2 of 3: src/a.py, line 13 of the head" in text
        assert "[src/a.py:13; syntax]" in text
        assert comment["html_url"] in text
        assert "def add(item" not in text
    for address in (review["html_url"], place.url):
        text = call(explain, address).stdout
        assert "3 candidates, 1 of them held back" in text
        assert "held back: not-confident (0.40 sure; 0.50 asked for)" in text
        assert "note: a note" in text
    found = json.loads(call(explain, review["html_url"], "--json").stdout)
    assert [one["fingerprint"] for one in found["candidates"]] == [
        one.fingerprint for one in result.candidates
    ]
    assert found["review"]["github_id"] == review["id"]
    assert found["references"][0]["text"] == CLAIM.text
    one = json.loads(call(explain, comment["html_url"], "--json").stdout)
    assert [c["judge"] for c in one["candidates"]] == [0.625]
    assert [c["github_id"] for c in one["comments"]] == [comment["id"]]


def test_a_candidate_is_explained_by_its_fingerprint(place: Place) -> None:
    ledger = place.ledger()
    _, _, result = keep_review(place, ledger)
    ledger.close()
    held = result.candidates[0].fingerprint
    for name in (held, held[:8]):
        text = call(explain, name).stdout
        assert "> Say why: def add(item" in text
        assert "held back: not-confident" in text
    assert "is no address and no fingerprint" in said(call(explain, "0" * 24))
    assert "is no address and no fingerprint" in said(call(explain, held[:3]))
    assert "is no address and no fingerprint" in said(call(explain, "%%%%%%%%"))


def test_a_prefix_of_several_fingerprints_names_none(place: Place) -> None:
    ledger = place.ledger()
    keep_review(place, ledger)
    _, _, result = keep_again_with(place, ledger, ("abcdef01", "abcdef02"))
    ledger.close()
    assert "begins several fingerprints: abcdef01, abcdef02" in said(call(explain, "abcdef0"))
    assert result.candidates[1].candidate.text in call(explain, "abcdef02").stdout


def keep_again_with(
    place: Place, ledger: Ledger, names: tuple[str, ...]
) -> tuple[PullRef, PullState, ReviewResult]:
    """The review again, with these fingerprints of its first candidates."""
    (job,) = ledger.jobs.recent()
    identity = TokenIdentity(place.github.token("alice"), place.github.url)
    forge = GitHubForge(identity, place.github.url)
    ref = find_pull(identity, pull_url(place.url, place.settings()))
    state = forge.pull(ref)
    fetched = forge.change(ref, state, None)
    result = RemarksOnAdded().review(fetched.change, fetched.sources, ReviewOptions(), silent)
    named = zip(result.candidates, names, strict=False)
    renamed = tuple(replace(one, fingerprint=name) for one, name in named)
    result = replace(result, candidates=renamed)
    ledger.reviews.save_draft(job, result, None, "m", (), ReviewRowState.EMPTY, time.time())
    return ref, state, result


def test_what_the_ledger_does_not_have_is_said(place: Place) -> None:
    assert "there is no ledger in" in said(call(explain, place.url))
    place.ledger().close()
    for tail, thing in (
        ("", "no such review"),
        ("#pullrequestreview-5", "no such review 5"),
        ("#discussion_r6", "no such review comment 6"),
        ("#issuecomment-7", "no such comment in the conversation 7"),
    ):
        assert thing in said(call(explain, place.url + tail))
    data = place.folder / "data" / "marginalia.db"
    data.write_bytes(b"")
    assert "start marginalia serve" in said(call(explain, place.url))
    data.write_bytes(b"no database at all" * 100)
    assert "cannot be read" in said(call(explain, place.url))
