"""Fixtures around one double for the whole run; import them into a conftest to use them.

``github``: an empty double; the test fails if a call or an answer broke GitHub's description.
``judged``: the same, and the test is skipped, with the reason, where nothing can judge.
``scene``: a repository with an App and an open pull request.
``hook``: a place that records what is delivered to it.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.github_double.client import AppKeys, Double, Pull

CALC = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(12))
CHANGED = CALC.replace("return x + 2\n", "y = x\n    return y - 2\n").replace("x + 9", "x * 9")
"""Two hunks: lines 10 to 12 of the new side (line 10 of the old), and line 39 (old 38)."""


@cache
def shared() -> Double:
    """The one double of this run, started at its first use."""
    double = Double().start()
    atexit.register(double.stop)
    return double


@pytest.fixture
def github() -> Iterator[Double]:
    double = shared()
    double.reset()
    yield double
    double.check()


@pytest.fixture
def judged(github: Double) -> Double:
    if not github.judged:
        from tests.github_double import prism

        pytest.skip(f"nothing judges the calls: {prism.missing()}")
    return github


@dataclass(frozen=True, slots=True)
class Scene:
    """What most tests begin with."""

    github: Double
    app: AppKeys
    installation: int
    repo: str
    pull: Pull


@pytest.fixture
def scene(github: Double) -> Scene:
    github.create_repo(
        "acme/web",
        {"calc.py": CALC, "README.md": "# Web\n", "src/deep/a file.txt": "x"},
        collaborators={"alice": "write"},
    )
    app = github.create_app()
    installation = github.install(app)
    pull = github.open_pr("acme/web", {"calc.py": CHANGED}, title="Change two", author="alice")
    return Scene(github, app, installation, "acme/web", pull)


@dataclass(slots=True)
class Received:
    """One delivery as the hook saw it."""

    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class HookServer:
    """A webhook for tests: ``status`` is what it answers."""

    url: str
    status: int = 202
    received: list[Received] = field(default_factory=list)


@pytest.fixture
def hook() -> Iterator[HookServer]:
    record = HookServer("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            record.received.append(Received(dict(self.headers), body))
            self.send_response(record.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    record.url = f"http://127.0.0.1:{server.server_address[1]}/webhook"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield record
    server.shutdown()
    server.server_close()
