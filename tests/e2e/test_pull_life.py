"""A pull request's life against the double, on both databases.

Opened, pushed, rebased, force-pushed, closed, reopened, each told more than once: one review for a
head that has something new, none for one that has not, and no remark twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store.tables import DeliveryState, Job, JobState, ReviewRow, ReviewRowState
from tests.bot.service import database_url
from tests.e2e.site import Site, service_settings
from tests.e2e.workers import Zygote, wait_for
from tests.github_double import Double, Pull

__all__ = ["database_url"]

PATIENCE = 600.0
FINGERPRINT = re.compile(r"<!-- marginalia:comment (\S+) -->")


@dataclass
class Life:
    """One pull request, and the deliveries that tell of it."""

    github: Double
    site: Site
    pull: Pull
    app_bot: str
    guids: list[str] = field(default_factory=list)

    def tell(self, action: str, times: int = 2) -> None:
        """Deliver an action, more than once, and wait until nothing is left to do."""
        made = self.github.deliver("pull_request", action, self.pull, send=False)
        payload = self.github.delivery(made[0]["id"])["request"]["payload"]
        guid = f"{action}-{len(self.guids)}"
        self.guids.append(guid)
        for _ in range(times):
            assert self.site.post("pull_request", payload, guid=guid) == 202
        wait_for(self.site.settled, PATIENCE, f"{action}\n{self.site.log()}")

    def act(self, verb: str, **data: object) -> None:
        self.pull = self.github.act(self.pull, verb, **data)

    def reviews(self) -> list[dict]:
        found = self.github.reviews(self.pull, author=self.app_bot)
        assert all(review["state"] == "COMMENTED" for review in found), "none is left pending"
        return found

    def remarks(self) -> list[str]:
        return [
            mark
            for review in self.reviews()
            for comment in review["comments"]
            for mark in FINGERPRINT.findall(comment["body"])
        ]

    def outcome(self) -> str:
        """How the job of the head as it is now ended."""
        with self.site.ledger.database.read() as session:
            query = (
                sa.select(Job.state, ReviewRow.state)
                .join(ReviewRow, ReviewRow.job_id == Job.id, isouter=True)
                .where(Job.head == self.pull.head_sha)
            )
            rows = session.execute(query).all()
        return " ".join(f"{job}/{review}" for job, review in rows)


@pytest.fixture
def life(
    github: Double,
    zygote: Zygote,
    database_url: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Life]:
    kind = "sqlite" if database_url.startswith("sqlite") else "postgresql"
    app = github.create_app(f"Life {kind}", webhook_url="http://127.0.0.1:9/")
    repo = f"life/{kind}"
    github.create_repo(repo, {"a.py": "one = 1\n"}, collaborators={"alice": "write"})
    github.install(app, "life", [repo])
    pull = github.open_pr(repo, {"a.py": "one = 1\ntwo = 2\n"})
    settings = service_settings(github, app, database_url, tmp_path, check_run=True)
    site = Site(settings, zygote, tmp_path)
    site.worker()
    yield Life(github, site, pull, app.bot)
    site.close()


def test_one_review_a_reviewed_head_and_no_remark_twice(life: Life) -> None:
    """Troubles 4, 5, 6, 7 and 8: rebase, force-push, stale heads, repeats."""
    github, repo = life.github, life.pull.repo
    posted = f"{JobState.DONE}/{ReviewRowState.SUBMITTED}"
    nothing_new = f"{JobState.DONE}/{ReviewRowState.EMPTY}"

    life.tell("opened")
    assert (life.outcome(), len(life.reviews())) == (posted, 1)

    github.push(repo, life.pull.head_ref, {"b.py": "three = 3\n"})
    life.pull = github.pull(repo, 1)
    life.tell("synchronize")
    assert (life.outcome(), len(life.reviews())) == (posted, 2)
    assert len(life.remarks()) == 2, "the first push's remark is not said again"

    github.push(repo, "main", {"upstream.py": "other = 0\n"})
    life.act("rebase")
    life.tell("synchronize")
    assert (life.outcome(), len(life.reviews())) == (nothing_new, 2), "upstream's work is not new"

    life.act("force-push", files={"a.py": "one = 1\ntwo = 2\n", "d.py": "five = 5\n"})
    life.tell("synchronize")
    assert (life.outcome(), len(life.reviews())) == (posted, 3)
    assert len(life.remarks()) == len(set(life.remarks())) == 3

    before = life.pull.head_sha
    life.act("close")
    life.tell("closed")
    life.tell("synchronize")
    assert len(life.reviews()) == 3, "what comes late about a closed one does nothing"
    life.act("reopen")
    life.tell("reopened")
    assert (life.pull.head_sha, len(life.reviews())) == (before, 3), "reviewed before"

    github.push(repo, life.pull.head_ref, {"e.py": "six = 6\n"})
    life.pull = github.pull(repo, 1)
    life.tell("synchronize")
    assert (life.outcome(), len(life.reviews())) == (posted, 4)
    assert len(life.remarks()) == len(set(life.remarks())) == 4
    assert not any("upstream.py" in json.dumps(review) for review in life.reviews())

    # The ledger and the forge agree: our own record of heads, whatever a force-push re-pointed.
    with life.site.ledger.database.read() as session:
        heads = list(
            session.execute(
                sa.select(Job.head)
                .join(ReviewRow, ReviewRow.job_id == Job.id)
                .where(ReviewRow.state == ReviewRowState.SUBMITTED)
            ).scalars()
        )
        kept = session.execute(sa.text("SELECT state FROM deliveries")).scalars().all()
    assert len(heads) == len(set(heads)) == 4
    assert set(kept) == {DeliveryState.HANDLED}
    assert len(kept) == len(life.guids)
    checks = github.checks(life.pull)
    assert {check["conclusion"] for check in checks} == {"neutral"}
    names = [check["head_sha"] for check in checks]
    assert len(names) == len(set(names)), "one check run a head"
