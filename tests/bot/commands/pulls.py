"""A pull request on the double of GitHub, and the commands that read one."""

from __future__ import annotations

import itertools
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

from bot.errors import FatalError
from bot.github.auth import TokenIdentity
from bot.github.compose import GitHubComposer
from bot.github.fingerprints import fingerprint
from bot.github.forge import GitHubForge
from bot.jobs.forge import Plan, PullRef, PullState, ReviewRequest, job_marker
from bot.jobs.queue import JobQueue
from bot.review.remote import find_pull, pull_url
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
