"""Deliveries that never arrived, and hosts that nothing can reach (trouble 9)."""

from __future__ import annotations

import shutil
from pathlib import Path

import sqlalchemy as sa

from bot.settings import Settings
from tests.e2e.site import Site, service_settings
from tests.e2e.workers import Zygote, wait_for
from tests.github_double import Double

PATIENCE = 600.0


def _site(
    github: Double, zygote: Zygote, template: Path, folder: Path, name: str, **more: object
) -> tuple[Site, str, int]:
    app = github.create_app(f"Missed {name}", webhook_url="http://127.0.0.1:9/", owner=name)
    repo = f"{name}/shop"
    github.create_repo(repo, {"a.py": "one = 1\n"}, collaborators={"alice": "write"})
    installation = github.install(app, name, [repo])
    shutil.copy(template, folder / "ledger.db")
    url = f"sqlite:///{folder / 'ledger.db'}"
    return (
        Site(service_settings(github, app, url, folder, **more), zygote, folder),
        repo,
        installation,
    )


def test_trouble_9_missed_deliveries_are_taken_in_at_start_and_every_interval(
    github: Double, zygote: Zygote, sqlite_template: Path, tmp_path: Path
) -> None:
    """GitHub could not reach us and does not try again; nothing is lost, nothing is done twice."""
    assert Settings().missed_interval == 3600, "every hour, where nobody says otherwise"
    site, repo, _ = _site(github, zygote, sqlite_template, tmp_path, "missed", missed_interval=1.0)
    try:
        pull = github.open_pr(repo, {"a.py": "one = 1\ntwo = 2\n"})
        (sent,) = github.deliver("pull_request", "opened", pull)
        assert sent["status_code"] not in range(200, 300), "nobody listens there"
        assert site.ledger.deliveries.known_guids([sent["guid"]]) == set()
        site.worker(chores=True)
        github.wait_for_review(pull, seconds=PATIENCE)
        assert site.ledger.deliveries.known_guids([sent["guid"]]) == {sent["guid"]}
        # The service runs, and again a delivery gets lost.
        github.push(repo, pull.head_ref, {"b.py": "three = 3\n"})
        pull = github.pull(repo, 1)
        github.deliver("pull_request", "synchronize", pull)
        github.wait_for_review(pull, count=2, seconds=PATIENCE)
        wait_for(site.settled, PATIENCE, "the end of every job")
        reads = len(github.calls("GET", "/app/hook/deliveries"))
        # Further passes find nothing new: the list is read and no delivery fetched again.
        single = len(github.calls("GET", "/app/hook/deliveries/"))
        wait_for(
            lambda: len(github.calls("GET", "/app/hook/deliveries")) >= reads + 2,
            PATIENCE,
            "two more passes",
        )
        assert len(github.calls("GET", "/app/hook/deliveries/")) == single
        assert len(github.reviews(pull)) == 2
        assert len(site.ledger.jobs.recent()) == 2
    finally:
        site.close()


def test_polling_tells_of_pushes_and_commands_where_nothing_can_reach_us(
    github: Double, zygote: Zygote, sqlite_template: Path, tmp_path: Path
) -> None:
    """``--poll``: no hook, no delivery list, the same jobs and the same one review a head."""
    site, repo, _ = _site(
        github, zygote, sqlite_template, tmp_path, "polled",
        poll_repositories=("polled/shop",), poll_repositories_interval=0.5,
    )  # fmt: skip
    try:
        pull = github.open_pr(repo, {"a.py": "one = 1\ntwo = 2\n"})
        site.worker(chores=True)
        github.wait_for_review(pull, seconds=PATIENCE)
        github.push(repo, pull.head_ref, {"b.py": "three = 3\n"})
        pull = github.pull(repo, 1)
        github.wait_for_review(pull, count=2, seconds=PATIENCE)
        wait_for(site.settled, PATIENCE, "the end of every job")
        github.comment(pull, "/marginalia full review", author="alice")
        github.wait_for_review(pull, count=3, seconds=PATIENCE)
        github.act(pull, "close")
        wait_for(lambda: "closed" in _actions(site), PATIENCE, "the closing")
        wait_for(site.settled, PATIENCE, "the end of every job")
        assert len(github.reviews(pull)) == 3
        assert _actions(site).count("closed") == 1
    finally:
        site.close()


def _actions(site: Site) -> list[str]:
    with site.ledger.database.read() as session:
        return list(session.execute(sa.text("SELECT action FROM deliveries")).scalars())
