"""The worker is killed at every moment that counts; GitHub holds exactly one review each time.

A case is one pull request with a service of its own: a worker that dies by SIGKILL before or after
a step, or while GitHub has its request, or that hangs and ends itself; then two workers that start
at once and race for its work.
All cases run against one double of GitHub.
"""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.jobs.review import STEP_NAMES
from bot.store.tables import UNFINISHED, DeliveryState, JobState
from tests.e2e.site import Site, service_settings
from tests.e2e.workers import Zygote, is_alive, wait_for
from tests.github_double import Double, Pull
from tests.github_double.client import AppKeys
from tests.postgres import new_database

AT_ONCE = 4
TARGET = "integration:1"
PATIENCE = 600.0
"""Seconds before a case counts as stuck; only a loaded machine comes near."""
STEPS = ("deliver", "fetch", "review", "create", "submit", "record")
STEP_CASES = tuple(f"{moment}:{step}" for step in STEPS for moment in ("before", "after"))
POST = "/repos/*/pulls/*/reviews"
SUBMIT = "/repos/*/pulls/*/reviews/*/events"
# The double holds the request before or after it was performed, and the worker dies meanwhile.
REQUEST_CASES = (
    "hold-before:create",
    "hold-after:create",
    "hold-before:submit",
    "hold-after:submit",
)
# The step waits for ever: the worker ends itself.
HANG_CASES = ("hang-before:create", "hang-after:submit")
# Nobody dies: the request is performed, its answer never arrives.
LOST_CASES = ("lose:create", "lose:submit")
SQLITE_GROUPS = {
    "before": tuple(case for case in STEP_CASES if case.startswith("before")),
    "after": tuple(case for case in STEP_CASES if case.startswith("after")),
    "requests": REQUEST_CASES + HANG_CASES + LOST_CASES,
}
POSTGRES_CASES = ("after:deliver", "after:create", "after:submit", "hold-after:create")


@pytest.mark.parametrize("group", SQLITE_GROUPS)
def test_sqlite(
    github: Double, zygote: Zygote, sqlite_template: Path, tmp_path: Path, group: str
) -> None:
    def database(case: str, folder: Path) -> str:
        shutil.copy(sqlite_template, folder / "ledger.db")
        return f"sqlite:///{folder / 'ledger.db'}"

    _matrix(github, zygote, tmp_path, SQLITE_GROUPS[group], database)


def test_postgresql(
    github: Double, zygote: Zygote, postgres_base: str, postgres_template: str, tmp_path: Path
) -> None:
    def database(case: str, folder: Path) -> str:
        return new_database(
            postgres_base, case.replace(":", "_").replace("-", "_"), postgres_template
        )

    _matrix(github, zygote, tmp_path, POSTGRES_CASES, database)


def _matrix(github: Double, zygote: Zygote, tmp_path: Path, cases, database) -> None:
    app = github.create_app(f"Crash {tmp_path.name}"[:34], webhook_url="http://127.0.0.1:9/")
    repo = f"acme/{tmp_path.name.replace('_', '-')}"
    github.create_repo(repo, {"a.py": "one = 1\n"})
    github.install(app, "acme", [repo])
    pulls = {
        case: github.open_pr(
            repo, {"a.py": f"one = 1\ntwo = {number}\n"}, head=f"case-{number}", title=case
        )
        for number, case in enumerate(cases)
    }

    def run(case: str) -> str:
        folder = tmp_path / case.replace(":", "-")
        folder.mkdir()
        settings = service_settings(github, app, database(case, folder), folder)
        site = Site(settings, zygote, folder)
        try:
            return _case(github, app, site, pulls[case], case)
        except TimeoutError as error:
            return f"{case}: {error}\n{_jobs(site)}\n{site.log()}"
        finally:
            site.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = [line for line in pool.map(run, cases) if line]
    assert failures == [], "\n".join(failures)


def _case(github: Double, app: AppKeys, site: Site, pull: Pull, case: str) -> str:
    """Run one case; what was wrong with it, or nothing."""
    made = github.deliver("pull_request", "opened", pull, send=False)
    delivery = github.delivery(made[0]["id"])["request"]["payload"]
    kind, _, step = case.partition(":")
    path = (POST if step == "create" else SUBMIT).replace(
        "/repos/*/pulls/*/", f"/repos/{pull.repo}/pulls/{pull.number}/"
    )
    fault = 0
    if kind in ("hold-before", "hold-after", "lose"):
        fault = github.fault(kind, "POST", path, seconds=2 * PATIENCE)
    assert site.post("pull_request", delivery, guid=f"{case}-{pull.number}") == 202
    first = site.worker(
        kill_at=case if kind in ("before", "after") else "",
        hang_at=case.removeprefix("hang-") if kind.startswith("hang") else "",
    )
    if kind.startswith("hold"):
        wait_for(lambda: github.fault_hits(fault) > 0, PATIENCE, f"{case}: the request")
        site.zygote.kill(first)
        github.release(fault)
    if kind != "lose":
        wait_for(lambda: not is_alive(first), PATIENCE, f"{case}: the kill")
        site.worker()
        site.worker()
    github.wait_for_review(pull, seconds=PATIENCE)
    _wait_for_end(site, f"{case}-{pull.number}")
    return _judge(github, app, site, pull, case)


def _wait_for_end(site: Site, guid: str) -> None:
    """Wait for the job's end and the delivery's, in whichever order they come.

    A worker that died between queueing the job and marking the delivery leaves two pieces of work:
    the job is taken up at once, the delivery only when the dead worker's lease has run out.
    """

    def ended() -> bool:
        jobs = site.ledger.jobs.recent()
        return bool(jobs) and all(job.state not in UNFINISHED for job in jobs)

    def handled() -> bool:
        row = site.ledger.deliveries.find(TARGET, guid)
        return row is not None and row.state != DeliveryState.RECEIVED

    wait_for(ended, PATIENCE, "the job's end")
    wait_for(handled, PATIENCE, "the delivery's mark")
    wait_for(ended, PATIENCE, "the end of every job")
    time.sleep(0.3)  # a second worker that was about to post would do it now


def _judge(github: Double, app: AppKeys, site: Site, pull: Pull, case: str) -> str:
    reviews = github.reviews(pull)
    wrong = []
    if [review["state"] for review in reviews] != ["COMMENTED"]:
        wrong.append(f"reviews {[(r['id'], r['state']) for r in reviews]}")
    elif len(reviews[0]["comments"]) != 1 or reviews[0]["user"]["login"] != app.bot:
        wrong.append(f"review {reviews[0]}")
    if github.comments(pull):
        wrong.append("comments outside the review")
    jobs = site.ledger.jobs.recent()
    if [job.state for job in jobs] != [JobState.DONE]:
        wrong.append(_jobs(site))
    row = site.ledger.deliveries.find(TARGET, f"{case}-{pull.number}")
    if row is None or row.state != DeliveryState.HANDLED:
        wrong.append(f"delivery {row and (row.state, row.reason)}")
    recorded = site.ledger.reviews.of_job(jobs[0].id) if jobs else None
    if reviews and (recorded is None or recorded.github_id != reviews[0]["id"]):
        wrong.append(f"ledger's review {recorded and recorded.github_id}")
    return f"{case}: {'; '.join(wrong)}\n{site.log()}" if wrong else ""


def _jobs(site: Site) -> str:
    jobs = site.ledger.jobs.recent()
    return f"jobs {[(job.state, job.reason, job.step, job.tries, job.dispatch) for job in jobs]}"


def test_the_matrix_has_every_step() -> None:
    assert ("deliver", *STEP_NAMES) == STEPS
