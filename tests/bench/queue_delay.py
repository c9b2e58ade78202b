"""From a delivery to its review: how long it waits, and how long all of it takes.

    python -m tests.bench.queue_delay [--pulls 10] [--hunks 10] [--no-model] [--burst]

Starts ``marginalia serve`` as a person would (SQLite, default settings, the shipped models) beside
the double of GitHub, opens pull requests of so many changed hunks and delivers each: one after
another, so that each finds the queue empty, or with ``--burst`` all at once, so that they wait for
each other. The first is a warm-up and not counted. Times are the ledger's own, but for the last
row, which is what a person sees: from the POST of the delivery until the review can be read.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import requests
import sqlalchemy as sa

from bot.store.ledger import Ledger
from bot.store.tables import Delivery, Job
from tests.bench.road import CHANGED, FUNCTION, GAP
from tests.github_double import Double, Pull
from tests.github_double.service import Service

FILES = 4
REPOSITORY = "bench/shop"
PATIENCE = 1200.0


def tree(template: str, hunks: int) -> dict[str, str]:
    """Files with so many functions of a template."""
    return {
        f"part/step_{file}.py": GAP.join(template.format(n=n) for n in range(file, hunks, FILES))
        for file in range(min(FILES, hunks))
    }


def row(name: str, seconds: list[float]) -> str:
    """One line of the table."""
    middle, most = statistics.median(seconds), max(seconds)
    return f"{name:52} median {middle:8.3f} s   longest {most:8.3f} s"


def main() -> None:
    """Run the bench and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pulls", type=int, default=10)
    parser.add_argument("--hunks", type=int, default=10)
    parser.add_argument("--no-model", action="store_true", help="rules and claims alone")
    parser.add_argument("--burst", action="store_true", help="deliver all at once")
    given = parser.parse_args()
    settings = {"use_model": "false"} if given.no_model else {}
    with tempfile.TemporaryDirectory() as folder, Double(judge="never") as github:
        github.create_repo(
            REPOSITORY, tree(FUNCTION, given.hunks), collaborators={"alice": "write"}
        )
        app = github.create_app(owner="bench")
        github.install(app, "bench")
        with Service(github, Path(folder), app=app, settings=settings) as service:
            github.point_app(app, service.webhook)
            _wait_for_worker(service)
            seen = _run(github, given.pulls + 1, given.hunks, given.burst)
        _print(Path(folder), seen[1:], given.pulls)


def _wait_for_worker(service: Service) -> None:
    deadline = time.monotonic() + PATIENCE
    while requests.get(f"{service.url}/readyz", timeout=10).json().get("workers") != 1:
        service.alive()
        if time.monotonic() > deadline:
            raise SystemExit("no worker came up")
        time.sleep(0.5)


def _run(github: Double, pulls: int, hunks: int, burst: bool) -> list[float]:
    """Open and deliver; seconds from each POST until its review can be read."""
    opened = [
        github.open_pr(REPOSITORY, tree(CHANGED, hunks), head=f"change-{n}") for n in range(pulls)
    ]
    starts: dict[int, float] = {}
    seen: list[float] = []

    def deliver(pull: Pull) -> None:
        starts[pull.number] = time.monotonic()
        (sent,) = github.deliver("pull_request", "opened", pull)
        if sent["status_code"] != 202:
            raise SystemExit(f"delivery answered {sent['status_code']}")

    def wait(pull: Pull) -> None:
        github.wait_for_review(pull, seconds=PATIENCE)
        seen.append(time.monotonic() - starts[pull.number])

    first, *rest = opened
    deliver(first)
    wait(first)
    for pull in rest:
        deliver(pull)
        if not burst:
            wait(pull)
    if burst:
        for pull in rest:
            wait(pull)
    return seen


def _print(folder: Path, seen: list[float], pulls: int) -> None:
    ledger = Ledger(f"sqlite:///{folder / 'marginalia.db'}")
    with ledger.database.read() as session:
        query = sa.select(
            Delivery.received_at, Job.created_at, Job.started_at, Job.finished_at
        ).join(Job, Job.delivery_id == Delivery.id)
        times = list(session.execute(query.order_by(Delivery.id)))[1:]
    ledger.close()
    load = os.getloadavg()[0]
    print(f"{pulls} pull requests, {os.cpu_count()} cores, load {load:.1f}")
    print(row("recorded -> job made", [made - got for got, made, _, _ in times]))
    print(row("job made -> begun", [begun - made for _, made, begun, _ in times]))
    print(row("queue delay (recorded -> begun)", [begun - got for got, _, begun, _ in times]))
    print(row("begun -> done (fetch, review, post, follow up)", [e - b for _, _, b, e in times]))
    print(row("recorded -> done", [e - got for got, _, _, e in times]))
    print(row("delivery's POST -> review can be read", seen))
    whole = statistics.median(e - got for got, _, _, e in times)
    delay = statistics.median(begun - got for got, _, begun, _ in times)
    print(f"ratio queue delay / whole: {delay / whole:.3f}")


if __name__ == "__main__":
    main()
