"""Acknowledgements a second and p99, beside a Probot app that answers the same payload.

    python -m tests.bench.ack [--seconds 10] [--rate 100] [--probot FOLDER]

Both servers check the same HMAC-SHA256 of the same 25 kB pull-request payload on one core each of
this machine. Marginalia's row also has the delivery and its job on disk before the answer (SQLite,
WAL, synchronous=FULL); Probot keeps nothing. Three measurements: as many as possible with 16
connections, then at a fixed rate (open loop: latency counts from when a request was due), then
Marginalia with synchronous=OFF, which says what the disk costs. ``FOLDER`` is a folder in which
``npm install probot`` was run; without it only Marginalia is measured.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.postgres import free_port

SECRET = "bench-secret"
ROOT = Path(__file__).resolve().parents[2]
CONNECTIONS = 16


@dataclass(frozen=True)
class Measured:
    """One server under one load."""

    per_second: float
    p50: float
    p99: float
    wrong: int
    cpu: float = 0.0

    def row(self, name: str) -> str:
        return (
            f"{name:44} {self.per_second:8.1f}/s   p50 {self.p50 * 1e3:7.1f} ms   "
            f"p99 {self.p99 * 1e3:7.1f} ms   cpu {self.cpu * 1e3:5.2f} ms   errors {self.wrong}"
        )


def payload() -> bytes:
    """A pull_request payload of GitHub's usual size."""
    from tests.github_double.examples import every_example

    found = [one for event, one in every_example() if event == "pull_request"]
    body = found[0] if found else {
        "action": "opened",
        "number": 1,
        "pull_request": {"number": 1, "body": "x" * 20_000},
        "repository": {"id": 1, "full_name": "o/r"},
    }  # fmt: skip
    return json.dumps({**body, "action": "opened"}).encode()


class Load:
    """Signed deliveries over kept connections, each with a GUID of its own."""

    def __init__(self, port: int, path: str) -> None:
        self._port, self._path = port, path
        self._body = payload()
        digest = hmac.new(SECRET.encode(), self._body, hashlib.sha256).hexdigest()
        self._headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-GitHub-Hook-Installation-Target-ID": "1",
            "X-Hub-Signature-256": f"sha256={digest}",
        }

    def send(self, connection: http.client.HTTPConnection) -> bool:
        headers = {**self._headers, "X-GitHub-Delivery": str(uuid.uuid4())}
        connection.request("POST", self._path, self._body, headers)
        answer = connection.getresponse()
        answer.read()
        return 200 <= answer.status < 300

    def flat_out(self, seconds: float) -> Measured:
        """Every connection sends as soon as it has its answer."""
        return self._run(seconds, None)

    def at_rate(self, seconds: float, rate: float) -> Measured:
        """``rate`` requests a second whatever the answers do."""
        return self._run(seconds, rate)

    def _run(self, seconds: float, rate: float | None) -> Measured:
        times: list[float] = []
        wrong: list[int] = []
        begin = time.perf_counter() + 0.2
        total = None if rate is None else int(seconds * rate)
        counter = iter(range(10**9))
        lock = threading.Lock()

        def work() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            while True:
                with lock:
                    number = next(counter)
                due = time.perf_counter()
                if rate is not None:
                    if total is not None and number >= total:
                        return
                    due = begin + number / rate
                    time.sleep(max(0.0, due - time.perf_counter()))
                elif due > begin + seconds:
                    return
                good = self.send(connection)
                times.append(time.perf_counter() - due)
                if not good:
                    wrong.append(number)

        threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall = time.perf_counter() - max(start, begin if rate else start)
        times.sort()
        p99 = times[min(len(times) - 1, int(0.99 * len(times)))]
        return Measured(len(times) / wall, statistics.median(times), p99, len(wrong))


@contextmanager
def marginalia(durable: bool = True) -> Iterator[tuple[int, int]]:
    """The web process alone on a fresh SQLite ledger; its port and process."""
    folder = Path(tempfile.mkdtemp(prefix="ack-bench-"))
    port = free_port()
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MARGINALIA_WEBHOOK_SECRET": SECRET,
        "MARGINALIA_DATA_DIR": str(folder),
        "MARGINALIA_PORT": str(port),
        "MARGINALIA_LOG_LEVEL": "WARNING",
    }
    code = "from bot.commands.serve import web; web()"
    if not durable:
        # Only for this measurement: what the answer would cost if it promised nothing.
        code = (
            "import bot.store.database as d; plain = d._sqlite_durable\n"
            "def off(c, r):\n    plain(c, r); c.execute('PRAGMA synchronous=OFF')\n"
            "d._sqlite_durable = off\n" + code
        )
    with _server([sys.executable, "-c", code], env, ROOT, port) as pid:
        yield port, pid
    shutil.rmtree(folder, ignore_errors=True)


PROBOT = """
import { createServer } from "node:http";
import { Probot, createNodeMiddleware } from "probot";
const probot = new Probot({ appId: 1, privateKey: process.env.KEY, secret: process.env.SECRET,
                            logLevel: "fatal" });
const middleware = await createNodeMiddleware((app) => { app.on("pull_request", () => {}); },
                                              { probot });
createServer(async (request, response) => {
  if (!(await middleware(request, response))) { response.writeHead(404); response.end(); }
}).listen(Number(process.env.PORT), "127.0.0.1");
"""
PROBOT_PATH = "/api/github/webhooks"


@contextmanager
def probot(folder: Path) -> Iterator[tuple[int, int]]:
    """A Probot app that verifies the signature and answers; its port and process."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    script = folder / "ack-bench.mjs"
    script.write_text(PROBOT)
    port = free_port()
    env = {**os.environ, "KEY": key.decode(), "SECRET": SECRET, "PORT": str(port),
           "NODE_ENV": "production"}  # fmt: skip
    with _server(["node", str(script)], env, folder, port) as pid:
        yield port, pid
    script.unlink()


@contextmanager
def _server(command: list[str], env: dict[str, str], folder: Path, port: int) -> Iterator[int]:
    process = subprocess.Popen(command, env=env, cwd=folder)
    try:
        deadline = time.monotonic() + 90
        while True:
            if process.poll() is not None:
                raise SystemExit(f"{command[0]} ended with {process.returncode}")
            try:
                http.client.HTTPConnection("127.0.0.1", port, timeout=5).connect()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise SystemExit(f"{command[0]} does not listen") from None
                time.sleep(0.2)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def cpu_seconds(root: int) -> float:
    """Processor time of a process and all below it: what a busy machine does not distort."""
    parents: dict[int, tuple[int, float]] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = (
            int(fields[1]),
            (int(fields[11]) + int(fields[12])) / tick,
        )
    found = {root}
    while True:
        more = {pid for pid, (parent, _) in parents.items() if parent in found} - found
        if not more:
            return sum(parents[pid][1] for pid in found if pid in parents)
        found |= more


def measure(
    server: tuple[int, int], path: str, seconds: float, rate: float
) -> tuple[Measured, Measured]:
    """Flat out, then at a rate, with the server's processor time for each answer."""
    port, pid = server
    load = Load(port, path)
    load.flat_out(min(2.0, seconds))  # warm

    def with_cpu(run: Callable[[], Measured]) -> Measured:
        before, start = cpu_seconds(pid), time.perf_counter()
        got = run()
        answers = got.per_second * (time.perf_counter() - start)
        return replace(got, cpu=(cpu_seconds(pid) - before) / max(1.0, answers))

    return (
        with_cpu(lambda: load.flat_out(seconds)),
        with_cpu(lambda: load.at_rate(seconds, rate)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--probot", type=Path, help="folder with node_modules/probot")
    given = parser.parse_args()
    print(f"payload {len(payload())} bytes, {CONNECTIONS} connections, {os.cpu_count()} cores")
    with marginalia() as server:
        ours, ours_paced = measure(server, "/webhook", given.seconds, given.rate)
    with marginalia(durable=False) as server:
        loose, loose_paced = measure(server, "/webhook", given.seconds, given.rate)
    print(ours.row("marginalia, on disk, flat out"))
    print(loose.row("marginalia, not synced, flat out"))
    print(ours_paced.row(f"marginalia, on disk, {given.rate:g}/s"))
    print(loose_paced.row(f"marginalia, not synced, {given.rate:g}/s"))
    print(f"durability costs a factor {loose.per_second / ours.per_second:.2f} in throughput")
    if given.probot:
        with probot(given.probot.resolve()) as server:
            theirs, theirs_paced = measure(server, PROBOT_PATH, given.seconds, given.rate)
        print(theirs.row("probot, keeps nothing, flat out"))
        print(theirs_paced.row(f"probot, keeps nothing, {given.rate:g}/s"))
        print(f"ratio marginalia (on disk) / probot: {ours.per_second / theirs.per_second:.3f}")
        print(f"ratio of processor time an answer: {ours.cpu / theirs.cpu:.2f}")


if __name__ == "__main__":
    main()
