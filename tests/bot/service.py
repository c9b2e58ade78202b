"""What the service's tests share: a ledger on either database, small changes, small results."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.jobs.forge import PullRef, PullState
from bot.jobs.queue import JobQueue, migrate_queue
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Reason,
    Review,
    ReviewComment,
    ReviewResult,
    Verdict,
)
from bot.settings import Settings
from bot.store.ledger import Ledger
from models.change import Change, ChangedFile, Coverage, FileStatus, Hunk, Line, LineKind, Side
from models.review_types import Candidate, CandidateKind, Score
from tests.postgres import new_database

REF = PullRef(repository_id=7, repository="o/r", number=3, installation_id=5)
BASE = "b" * 40
HEAD = "c" * 40
_numbers = itertools.count(1)


def state(head: str = HEAD, merge_base: str = BASE, **more: object) -> PullState:
    return PullState(head=head, merge_base=merge_base, base_ref="main", **more)  # type: ignore[arg-type]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated, empty database of each kind: a copy of one that is made once a session."""
    if request.param == "sqlite":
        template = request.getfixturevalue("sqlite_template")
        shutil.copy(template, tmp_path / "ledger.db")
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    base = request.getfixturevalue("postgres_base")
    template = request.getfixturevalue("postgres_template")
    return new_database(base, f"t{next(_numbers)}", template)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "ledger.db"
    migrate_all(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres_base: str) -> str:
    migrate_all(new_database(postgres_base, "migrated"))
    return "migrated"


def migrate_all(url: str) -> None:
    """The ledger's and the queue's tables."""
    url = Settings(database_url=url).database
    migrate_queue(url)
    ledger = Ledger(url)
    ledger.migrate()
    ledger.close()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=database_url,
        data_dir=tmp_path,
        webhook_secret="s3cret",  # type: ignore[arg-type]
        app_id=99,
    )


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    """A migrated ledger with the queue's tables beside it."""
    ledger = Ledger(settings.database)
    yield ledger
    ledger.close()


@pytest.fixture
def queue(settings: Settings, ledger: Ledger) -> Iterator[JobQueue]:
    queue = JobQueue(settings.database, settings.job_version)
    yield queue
    queue.close()


def change(repo: str = "o/r", base: str = BASE, head: str = HEAD) -> Change:
    line = Line(LineKind.ADDED, None, 1, "x = 1\udcff")
    file = ChangedFile(None, "a.py", FileStatus.ADDED, (Hunk(0, 0, 1, 1, (line,)),))
    return Change(repo, base, head, (file,))


def result(of: Change, texts: tuple[str, ...] = ("Say why.",)) -> ReviewResult:
    judged = tuple(
        JudgedCandidate(
            Candidate(CandidateKind.COMMENT, "test:1", "a.py", Side.RIGHT, 1, 1, text),
            Score(0.5, 0.5, 0.5, "sig"),
            Verdict(Reason.POSTED),
            rank,
            f"fp-{text}",
        )
        for rank, text in enumerate(texts, 1)
    )
    comments = tuple(
        ReviewComment("a.py", Side.RIGHT, None, 1, f"{one.candidate.text}", one.fingerprint, one)
        for one in judged
    )
    return ReviewResult(
        of,
        Review("Summary.", comments, "", "sig"),
        judged,
        (FileCoverage("a.py", Coverage.REVIEWED),),
        timings={"all": 0.1},
    )
