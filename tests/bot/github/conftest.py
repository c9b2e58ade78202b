"""One double of GitHub for all tests of this folder, and identities that ask it quickly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bot.github.auth import AppIdentity, Pace, TokenIdentity
from bot.github.forge import GitHubForge
from bot.jobs.forge import DraftComment, DraftReview, PullRef, job_marker
from models.change import Side
from tests.github_double import Double, Pull
from tests.github_double.client import AppKeys

PACE = Pace(between_requests=0, between_writes=0, timeout=60, max_wait=2, backoff=0.02)
BASE = {"src/a.py": "".join(f"line {n}\n" for n in range(1, 41)), "README.md": "hello\n"}
_names = itertools.count(1)


@pytest.fixture(scope="session")
def github() -> Iterator[Double]:
    with Double() as double:
        yield double
        broken = [
            f"{call['method']} {call['path']} -> {call['status']}: {violation}"
            for call in double.violations()
            for violation in call["violations"]
            if not _of_the_description(violation)
        ]
        assert not broken, "\n".join(broken)


def _of_the_description(violation: dict) -> bool:
    """GitHub answers null for the place of an outdated comment; its description says integer."""
    place = str((violation.get("location") or [""])[-1])
    return place in ("position", "line") and violation["message"].endswith("must be integer")


@pytest.fixture(autouse=True)
def _clean(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "github" in request.fixturenames:
        request.getfixturevalue("github").clear_faults()


@dataclass(frozen=True, slots=True)
class Scene:
    """A repository with an open pull request, and the App that is installed there."""

    github: Double
    app: AppKeys
    identity: AppIdentity
    forge: GitHubForge
    ref: PullRef
    pull: Pull

    def draft(self, *comments: DraftComment, job: str = "job-1") -> DraftReview:
        marker = job_marker(job)
        return DraftReview(f"A summary.\n\n{marker}", comments, marker)

    def bot_reviews(self) -> list[dict]:
        return self.github.reviews(self.pull, author=self.app.bot)


def remark(
    line: int, body: str = "Say why.", side: Side = Side.RIGHT, start: int | None = None,
    path: str = "src/a.py",
) -> DraftComment:  # fmt: skip
    fingerprint = f"fp{side}{path}{line}".replace("/", "")
    body = f"{body}\n\n<!-- marginalia:comment {fingerprint} -->"
    return DraftComment(path, side, line, body, fingerprint, start)


CHANGED = {
    "src/a.py": BASE["src/a.py"].replace("line 10\n", "line ten\nline ten and a half\n")
    .replace("line 30\n", ""),
}  # fmt: skip


@pytest.fixture
def scene(github: Double) -> Scene:
    owner = f"acme{next(_names)}"
    repo = f"{owner}/shop"
    github.create_repo(repo, BASE, collaborators={"alice": "write", "bob": "read"})
    pull = github.open_pr(repo, CHANGED)
    app = github.create_app(f"Marginalia {owner}", owner=owner)
    installation = github.install(app, owner)
    identity = AppIdentity(app.id, app.pem, github.url, PACE)
    ref = PullRef(repository_id(github, identity, installation, repo), repo, 1, installation)
    return Scene(github, app, identity, GitHubForge(identity, github.url), ref, pull)


def repository_id(github: Double, identity: AppIdentity, installation: int, repo: str) -> int:
    from bot.github.requests import get

    return int(identity.api(installation).data(get(f"/repos/{repo}"))["id"])


@pytest.fixture
def person(scene: Scene) -> GitHubForge:
    """The same pull request seen with alice's own token."""
    token = scene.github.token("alice")
    return GitHubForge(TokenIdentity(token, scene.github.url, PACE), scene.github.url)
