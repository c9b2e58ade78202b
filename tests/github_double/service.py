"""The App's own process, pointed at a double: for the sandbox and for end-to-end tests."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import requests

from tests.github_double.client import AppKeys, Double
from tests.github_double.process import ROOT

COMMAND = "{python} -m bot.cli serve"
"""How the service is started; ``{python}``, ``{port}`` and ``{data}`` are filled in."""


class ServiceError(RuntimeError):
    """The service did not come up, or went away."""


class Service:
    """One service process. It reads everything from its environment, so any command will do.

    With ``app`` it acts as the App, else with ``token``. ``settings`` are more of the operator's
    settings (``max_comments="3"`` becomes ``MARGINALIA_MAX_COMMENTS``), ``data`` is its folder,
    kept from one start to the next.
    """

    def __init__(
        self,
        github: Double,
        data: Path,
        *,
        app: AppKeys | None = None,
        token: str = "",
        secret: str = "",
        command: str = COMMAND,
        settings: Mapping[str, str] | None = None,
        ghes: bool = False,
    ) -> None:
        self.data, self.command = data, command
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_file = data / "service.log"
        self._process: subprocess.Popen[bytes] | None = None
        data.mkdir(parents=True, exist_ok=True)
        chosen = {
            "DATA_DIR": str(data),
            "PORT": str(self.port),
            "HOST": "127.0.0.1",
            "GITHUB_API_URL": github.ghes_url if ghes else github.url,
            "GITHUB_URL": github.url,
            "WEBHOOK_SECRET": app.webhook_secret if app else secret,
        }
        if app is not None:
            key = data / "app.pem"
            key.write_text(app.pem)
            key.chmod(0o600)
            chosen.update(APP_ID=str(app.id), PRIVATE_KEY_FILE=str(key))
        elif token:
            chosen["TOKEN"] = token
        chosen.update({name.upper(): value for name, value in (settings or {}).items()})
        self.env = {f"MARGINALIA_{name}": value for name, value in chosen.items()}

    @property
    def webhook(self) -> str:
        """Where deliveries go."""
        return f"{self.url}/webhook"

    @property
    def pid(self) -> int:
        """The process that was started."""
        if self._process is None:
            raise ServiceError("the service was not started")
        return self._process.pid

    def launch(self) -> Self:
        """Start the process and return at once."""
        words = [
            word.format(python=sys.executable, port=self.port, data=self.data)
            for word in shlex.split(self.command)
        ]
        env = {k: v for k, v in os.environ.items() if not k.startswith("MARGINALIA_")}
        path = os.pathsep.join(p for p in (str(ROOT), env.get("PYTHONPATH", "")) if p)
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                words,
                env={**env, **self.env, "PYTHONPATH": path},
                cwd=self.data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def start(self, seconds: float = 120.0) -> Self:
        """Start the process and wait until it answers."""
        self.launch()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.alive()
            try:
                if requests.get(f"{self.url}/healthz", timeout=2).ok:
                    return self
            except requests.RequestException:
                time.sleep(0.1)
        self.stop()
        raise ServiceError(f"the service did not answer in {seconds:g} s:\n{self.log()}")

    def alive(self) -> None:
        """``ServiceError`` with its last words if the process is gone."""
        if self._process is None or self._process.poll() is not None:
            raise ServiceError(f"the service ended:\n{self.log()}")

    def log(self, lines: int = 15, width: int = 600) -> str:
        """The end of what it said, long lines cut short."""
        if not self.log_file.exists():
            return ""
        said = self.log_file.read_text("utf-8", errors="replace").splitlines()[-lines:]
        return "\n".join(line[:width] for line in said)

    def kill(self) -> None:
        """SIGKILL to the process and to all that it started."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end (SIGTERM); kill it after half a minute."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for sent in (how, signal.SIGKILL):
            try:
                # It is the leader of a session of its own: the group is it and its children.
                os.killpg(process.pid, sent)
            except ProcessLookupError:
                break
            try:
                process.wait(30)
                break
            except subprocess.TimeoutExpired:
                continue
        process.wait()

    def __enter__(self) -> Self:
        return self.start() if self._process is None else self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
