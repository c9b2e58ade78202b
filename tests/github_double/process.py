"""Starting, stopping and calling a double from a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]


class DoubleError(RuntimeError):
    """The double refused what a test asked of it."""


class Violations(AssertionError):
    """Calls or answers broke GitHub's own description of its API."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request as it stands; every method that changes it gives a new one."""

    id: int
    repo: str
    number: int
    url: str
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    merge_base: str
    state: str
    draft: bool
    merged: bool


@dataclass(frozen=True, slots=True)
class AppKeys:
    """A registered App: what its operator would have in a file."""

    id: int
    slug: str
    client_id: str
    client_secret: str
    pem: str
    webhook_secret: str
    hook_id: int
    bot: str


class Running:
    """A running double: its process, if it is ours, and the way to call it."""

    def __init__(self, *, judge: str = "auto", state: Path | None = None, port: int = 0) -> None:
        self.url = ""
        self.judged = False
        self.note = ""
        """Why calls are not judged, where they could be."""
        self._judge, self._state, self._port = judge, state, port
        self._process: subprocess.Popen[str] | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._session = requests.Session()

    # -- life ------------------------------------------------------------------------------

    @classmethod
    def at(cls, url: str) -> Self:
        """Speak to a double that someone else started."""
        double = cls()
        double.url = url.rstrip("/")
        double.judged = bool(double.call("PATCH", "/settings", {})["judged"])
        return double

    def start(self) -> Self:
        """Start the process and wait until it listens."""
        if self._state is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="github-double-")
        state = self._state or Path(self._temporary.name if self._temporary else ".")
        command = [
            sys.executable,
            "-m",
            "tests.github_double",
            "--port",
            str(self._port),
            "--judge",
            self._judge,
            "--state",
            str(state),
        ]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [*command, "--tied"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=env,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise DoubleError("the double of GitHub did not start: see its words above")
        said = json.loads(line)
        self.url, self.judged = said["url"], said["judged"]
        self.note = said.get("note", "")
        return self

    def stop(self) -> None:
        """End the process and remove its folder."""
        self._session.close()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def __enter__(self) -> Self:
        return self.start() if not self.url else self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def ghes_url(self) -> str:
        """The API's address in the style of GitHub Enterprise Server."""
        return f"{self.url}/api/v3"

    def call(self, method: str, path: str, data: Any = None) -> Any:
        """One call of the double's own API; ``path`` comes after ``/_double``."""
        got = self._session.request(method, f"{self.url}/_double{path}", json=data, timeout=180)
        if got.status_code >= 400:
            raise DoubleError(f"{method} {path}: {got.status_code} {got.text[:500]}")
        return got.json()

    def reset(self) -> None:
        """Forget everything: repositories, Apps, tokens, faults, recorded calls, limits."""
        self.call("POST", "/reset", {})
