"""A thousand deliveries, a third of them repeated, all out of order: one review a head, none lost.

Two web processes and two workers on PostgreSQL.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sqlalchemy as sa

from bot.store.ledger import Ledger
from bot.store.tables import UNFINISHED, Delivery, DeliveryState, Job
from tests.e2e.site import SECRET, plain, service_settings
from tests.e2e.workers import ROOT, WorkerSpec, Zygote, wait_for
from tests.github_double import Double, Pull
from tests.postgres import free_port, new_database

ALL = int(os.environ.get("MARGINALIA_TEST_DELIVERIES", "1000"))
ROUNDS = 2
PULLS = 10 if ALL >= 200 else 3
REPEATED_A_ROUND = ALL * 3 // 10 // ROUNDS
UNIQUE_A_ROUND = ALL // ROUNDS - REPEATED_A_ROUND
PATIENCE = 900.0
ACTIONS = ("synchronize", "labeled", "unlabeled", "reopened")
Row = tuple[str, bytes]


def test_one_review_a_head_and_none_lost(
    github: Double,
    zygote: Zygote,
    postgres_base: str,
    postgres_template: str,
    tmp_path: Path,
) -> None:
    app = github.create_app("Many", webhook_url="http://127.0.0.1:9/")
    github.create_repo("acme/many", {"a.py": "one = 1\n"})
    github.install(app, "acme", ["acme/many"])
    pulls = [
        github.open_pr("acme/many", {"a.py": f"one = 1\ntwo = {n}\n"}, head=f"branch-{n}")
        for n in range(PULLS)
    ]
    url = new_database(postgres_base, "many", postgres_template)
    port = free_port()
    settings = service_settings(github, app, url, tmp_path, port=port, lease=20.0)
    ledger = Ledger(settings.database)
    web = subprocess.Popen(
        [sys.executable, "-c", "from bot.commands.serve import web; web()"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "MARGINALIA_DATABASE_URL": url,
            "MARGINALIA_DATA_DIR": str(tmp_path),
            "MARGINALIA_WEBHOOK_SECRET": SECRET,
            "MARGINALIA_PORT": str(port),
            "MARGINALIA_WEB_PROCESSES": "2",
            "MARGINALIA_LOG_LEVEL": "WARNING",
        },
        cwd=tmp_path,
    )
    spec = WorkerSpec(plain(settings), str(tmp_path / "workers.log"))
    workers = [zygote.start(spec), zygote.start(spec)]
    try:
        wait_for(lambda: _listens(port), PATIENCE, "the web server")
        chance = random.Random(7)
        posted: set[str] = set()
        for number in range(ROUNDS):
            rows = _round(github, pulls, number, chance)
            posted |= {guid for guid, _ in rows}
            with ThreadPoolExecutor(8) as pool:
                assert set(pool.map(lambda row: _post(port, *row), rows)) == {202}
            wait_for(lambda: _settled(ledger), PATIENCE, f"round {number}")
            for pull in pulls:
                heads = [review["commit_id"] for review in github.reviews(pull)]
                assert len(heads) == len(set(heads)) == number + 1, (pull.number, heads)
                assert github.pull(pull.repo, pull.number).head_sha in heads
            if number + 1 < ROUNDS:
                for at, pull in enumerate(pulls):
                    github.push(
                        pull.repo,
                        pull.head_ref,
                        {"b.py": f"three = {at}\n"},
                    )
        with ledger.database.read() as session:
            kept = set(session.execute(sa.select(Delivery.guid)).scalars())
            states = set(session.execute(sa.select(Delivery.state)).scalars())
            jobs = session.execute(sa.select(sa.func.count()).select_from(Job)).scalar_one()
        assert kept == posted
        assert states == {DeliveryState.HANDLED}
        assert jobs == PULLS * ROUNDS
    finally:
        for pid in workers:
            zygote.kill(pid)
        web.terminate()
        web.wait(timeout=PATIENCE)
        ledger.close()


def _round(github: Double, pulls: list[Pull], number: int, chance: random.Random) -> list[Row]:
    """The deliveries of a round, with repeats, in a random order."""
    templates = []
    for pull in pulls:
        made = github.deliver("pull_request", "synchronize", pull, send=False)
        templates.append(github.delivery(made[0]["id"])["request"]["payload"])
    rows = []
    for index in range(UNIQUE_A_ROUND):
        payload = {
            **templates[index % PULLS],
            "action": ACTIONS[index // PULLS % len(ACTIONS)],
            "nonce": f"{number}-{index}",
        }
        rows.append((f"round{number}-{index}", json.dumps(payload).encode()))
    rows += chance.sample(rows, REPEATED_A_ROUND)
    chance.shuffle(rows)
    return rows


def _post(port: int, guid: str, body: bytes) -> int:
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-GitHub-Hook-Installation-Target-ID": "1",
        "X-Hub-Signature-256": f"sha256={digest}",
    }
    connection.request("POST", "/webhook", body, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def _listens(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def _settled(ledger: Ledger) -> bool:
    time.sleep(0.3)
    with ledger.database.read() as session:
        open_deliveries = session.execute(
            sa.select(sa.func.count()).where(Delivery.state == DeliveryState.RECEIVED)
        ).scalar_one()
        open_jobs = session.execute(
            sa.select(sa.func.count()).where(Job.state.in_(UNFINISHED))
        ).scalar_one()
    return open_deliveries == 0 and open_jobs == 0
