"""``marginalia serve`` as a person starts it: one command, one folder, and a clean end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from bot.jobs.forge import ReviewRequest
from bot.settings import Settings
from bot.store.ledger import Ledger
from tests.bot.service import REF, state
from tests.e2e.workers import ROOT, wait_for
from tests.github_double import Double
from tests.postgres import free_port

START_SECONDS = 900.0
SECRET = "serve-secret"


@contextmanager
def serving(
    folder: Path, *options: str, typed: str = "", **env: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A running ``serve``; its address, and the process with its standard output.

    ``typed`` is its standard input.
    """
    port = free_port()
    process = subprocess.Popen(
        [
            sys.executable, "-m", "bot.commands.serve", "serve", "--port", str(port),
            "--data-dir", str(folder / "data"), *options,
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(folder / "serve.log").open("wb"),
        text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(typed)
    process.stdin.close()
    try:
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=START_SECONDS) == 0
        assert process.stdout is not None
        process.stdout.close()


def answer(url: str) -> dict[str, Any]:
    try:
        got = requests.get(url, timeout=120)
    except requests.RequestException:
        return {}
    return dict(got.json())


def marginalia(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot.commands.serve", *words, "--data-dir", str(folder / "data")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_serve_replay_and_jobs(tmp_path: Path) -> None:
    env = {
        "MARGINALIA_WEBHOOK_SECRET": SECRET,
        "MARGINALIA_TOKEN": "t",
        "MARGINALIA_DRAIN": "1",
        "MARGINALIA_USE_MODEL": "false",  # nothing is reviewed here
    }
    with serving(tmp_path, "--port", "0", **env) as (_, process):
        assert process.stdout is not None
        # a free port is chosen, and is the one that is printed
        told = re.fullmatch(r"Webhook: (http://\S+:\d+)/webhook\n", process.stdout.readline())
        assert told is not None
        url = told[1]
        wait_for(lambda: answer(f"{url}/readyz").get("workers") == 1, START_SECONDS, "a worker")
        assert answer(f"{url}/healthz") == {"status": "ok"}
        stored = tmp_path / "delivery.json"
        payload = {"action": "created", "installation": {"id": 5, "account": {"login": "o"}}}
        stored.write_text(json.dumps({"event": "installation", "request": {"payload": payload}}))
        shown = marginalia(tmp_path, "replay", str(stored), "--url", f"{url}/webhook", **env)
        assert (shown.returncode, shown.stdout[:3]) == (0, "202")
        ledger = Ledger(f"sqlite:///{tmp_path / 'data' / 'marginalia.db'}")
        wait_for(
            lambda: (
                ledger.memory.installation_state(5) == "active"
                and ledger.deliveries.get(1) is not None
                and ledger.deliveries.get(1).state == "handled"
            ),  # type: ignore[union-attr]
            START_SECONDS,
            "the handling",
        )
        forged = marginalia(
            tmp_path, "replay", str(stored), "--url", f"{url}/webhook",
            **{**env, "MARGINALIA_WEBHOOK_SECRET": "other"},
        )  # fmt: skip
        assert (forged.returncode, forged.stdout[:3]) == (1, "401")
        text = requests.get(f"{url}/metrics", timeout=120).text
        assert 'marginalia_deliveries_total{event="installation",outcome="received"} 1.0' in text
        assert 'marginalia_deliveries_refused_total{status="401"} 1.0' in text
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
        ledger.close()
    listed = marginalia(tmp_path, "jobs", "list", **env)
    assert (listed.returncode, listed.stdout) == (0, "")
    unknown = marginalia(tmp_path, "jobs", "show", "7:3:b:c:0", **env)
    assert unknown.returncode == 2
    assert unknown.stderr.strip().splitlines() == [
        "marginalia: there is no job 7:3:b:c:0: see marginalia jobs list"
    ]


def children(pid: int) -> dict[str, int]:
    """The process ids of a supervisor's two children by what they run."""
    found: dict[str, int] = {}
    for line in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        words = Path(f"/proc/{line}/cmdline").read_bytes().decode().split("\0")
        found["worker" if "worker" in words else "web"] = int(line)
    return found


def test_web_and_worker_are_started_anew_when_killed(tmp_path: Path) -> None:
    env = {
        "MARGINALIA_WEBHOOK_SECRET": SECRET,
        "MARGINALIA_TOKEN": "t",
        "MARGINALIA_DRAIN": "1",
        "MARGINALIA_USE_MODEL": "false",
        "MARGINALIA_HEARTBEAT": "1",
        "MARGINALIA_LEASE": "5",
    }
    with serving(tmp_path, **env) as (url, process):

        def ready() -> bool:
            return answer(f"{url}/readyz").get("workers") == 1

        wait_for(ready, START_SECONDS, "a worker")
        first = children(process.pid)
        assert set(first) == {"web", "worker"}
        for pid in first.values():
            os.kill(pid, signal.SIGKILL)
        wait_for(
            lambda: not set(children(process.pid).values()) & set(first.values()),
            START_SECONDS,
            "the end of the killed",
        )
        wait_for(lambda: set(children(process.pid)) == {"web", "worker"}, START_SECONDS, "new ones")
        stored = tmp_path / "delivery.json"
        payload = {"action": "created", "installation": {"id": 6, "account": {"login": "o"}}}
        stored.write_text(json.dumps({"event": "installation", "request": {"payload": payload}}))
        wait_for(lambda: answer(f"{url}/healthz") != {}, START_SECONDS, "the web process")
        shown = marginalia(tmp_path, "replay", str(stored), "--url", f"{url}/webhook", **env)
        assert (shown.returncode, shown.stdout[:3]) == (0, "202")
        ledger = Ledger(f"sqlite:///{tmp_path / 'data' / 'marginalia.db'}")
        wait_for(
            lambda: ledger.memory.installation_state(6) == "active",
            START_SECONDS,
            "the handling by the new worker",
        )
        ledger.close()
    log = (tmp_path / "serve.log").read_text()
    assert log.count('"a process ended"') == 2


def test_parked_jobs_are_seen_and_tried_again(sqlite_template: Path, tmp_path: Path) -> None:
    from bot.jobs.queue import JobQueue

    (tmp_path / "data").mkdir()
    database = tmp_path / "data" / "marginalia.db"
    database.write_bytes(sqlite_template.read_bytes())
    settings = Settings(data_dir=tmp_path / "data")
    ledger, queue = Ledger(settings.database), JobQueue(settings.database, "1")
    name = ledger.jobs.request(REF, state(), ReviewRequest(), None, 1.0, queue.review).job_id
    for number in range(3):
        ledger.jobs.claim(name, 1, f"w{number}", 2, 9, 2.0)
    queue.close()
    ledger.close()
    shown = marginalia(tmp_path, "jobs", "list", "--state", "parked", "--json")
    assert json.loads(shown.stdout)["reason"] == "gave up after 2 tries"
    again = marginalia(tmp_path, "jobs", "retry", name)
    assert (again.returncode, again.stdout.strip()) == (0, f"{name}: queued")
    assert json.loads(marginalia(tmp_path, "jobs", "show", name).stdout)["state"] == "queued"
    refused = marginalia(tmp_path, "jobs", "retry", name)
    assert refused.returncode == 2
    assert "in work" in refused.stderr
    wrong = marginalia(tmp_path, "jobs", "list", "--state", "lost")
    assert "--state lost: there is cancelled, done" in wrong.stderr


def test_without_an_app_there_is_only_the_set_up(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, process):
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        found = re.search(r"http://127\.0\.0\.1:\d+/setup\?token=\S+", lines[1])
        assert found, lines
        wait_for(lambda: answer(f"{url}/healthz") != {}, START_SECONDS, "the set-up page")
        assert requests.post(f"{url}/webhook", data=b"{}", timeout=120).status_code == 404
        assert requests.get(f"{url}/setup", timeout=120).status_code == 404
        assert requests.get(found.group(), timeout=120).status_code == 200


def test_a_token_and_polling_need_no_app_and_no_webhook(github: Double, tmp_path: Path) -> None:
    """The whole service as a person without a public address starts it, with the real pipeline."""
    repo, bot = "polled-by-token/shop", "marginalia-bot"
    github.create_repo(repo, {"a.py": "one = 1\n"}, collaborators={bot: "write"})
    pull = github.open_pr(repo, {"a.py": "one = 1\n\n\ndef two(x=[]):\n    return x\n"})
    env = {
        "MARGINALIA_GITHUB_API_URL": github.url,
        "MARGINALIA_GITHUB_URL": github.url,
        "MARGINALIA_USE_MODEL": "false",
        "MARGINALIA_POLL_REPOSITORIES_INTERVAL": "0.5",
        "MARGINALIA_DRAIN": "1",
    }
    typed = github.token(bot) + "\n"
    with serving(tmp_path, "--token", "-", "--poll", repo, typed=typed, **env) as (url, process):
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Polling only")
        (review,) = github.wait_for_review(pull, author=bot, seconds=START_SECONDS)
        assert answer(f"{url}/healthz") == {}, "there is no webhook that anyone could call"
        # The owner's own command: in token mode the bot is the owner, and knows its own words.
        github.comment(pull, "/marginalia full review", author=bot)
        github.wait_for_review(pull, author=bot, count=2, seconds=START_SECONDS)
    assert review["user"]["login"] == bot
    assert len(github.reviews(pull)) == 2
    log = (tmp_path / "serve.log").read_text("utf-8")
    assert typed.strip() not in log
    assert '"level": "ERROR"' not in log


def test_an_empty_token_is_told(tmp_path: Path) -> None:
    shown = marginalia(tmp_path, "serve", "--token", " ")
    assert shown.returncode == 2
    assert shown.stderr.strip().startswith("marginalia: --token: nothing was given")


def test_a_server_that_anyone_could_call_does_not_start(tmp_path: Path) -> None:
    shown = marginalia(tmp_path, "web", "--port", "1")
    assert shown.returncode == 2
    assert "MARGINALIA_WEBHOOK_SECRET" in shown.stderr
    assert len(shown.stderr.strip().splitlines()) == 1
