"""``prism proxy`` with GitHub's own OpenAPI description: the judge of calls and answers."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import IO

from tests.github_double import description

HERE = Path(__file__).parent
_CLI = HERE / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"
DESCRIPTION = HERE / "node_modules" / "@octokit" / "openapi" / "generated" / "api.github.com.json"
START_SECONDS = 300.0


def missing() -> str:
    """What the judge needs and does not have, as one line; ``""`` where it has all."""
    if shutil.which("node") is None:
        return (
            "needs Node 20 or newer, which is not on the PATH: install it from nodejs.org or by "
            "the system's package manager, then run: npm ci --prefix tests/github_double"
        )
    if not _CLI.is_file() or not DESCRIPTION.is_file():
        return "needs the npm packages of the tests: npm ci --prefix tests/github_double"
    return ""


class Prism:
    """One prism process in front of one double."""

    def __init__(self, upstream: str, folder: Path, rules: list[str]) -> None:
        self.upstream, self.rules = upstream, rules
        self.description = folder / "github.json"
        self.log_file = folder / "prism.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def start(self) -> tuple[str, int]:
        """Start it and wait until it listens; ``RuntimeError`` with its last words if not."""
        why = missing()
        if why:
            raise RuntimeError(why)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        description.cut(DESCRIPTION, self.description, self.rules)
        self._log = self.log_file.open("wb")
        self._process = subprocess.Popen(
            [
                "node",
                str(_CLI),
                "proxy",
                str(self.description),
                self.upstream,
                "--port",
                str(port),
                "--host",
                "127.0.0.1",
                "--errors",
                "false",
                "--verboseLevel",
                "error",
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                time.sleep(0.1)
                continue
            return "127.0.0.1", port
        self.stop()
        raise RuntimeError(
            f"prism did not start: {self.log_file.read_text(errors='replace')[-800:]}"
        )

    def stop(self) -> None:
        """End the process."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._log is not None:
            self._log.close()
