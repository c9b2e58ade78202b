"""Worker processes for the end-to-end tests, and how to kill them at a chosen moment.

Importing the service takes seconds, so one process imports it and then forks a worker for each
request: ``Zygote.start`` answers within milliseconds, and a worker can be killed and started often.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PR_SET_PDEATHSIG = 1
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class WorkerSpec:
    """What a worker needs to know. ``kill_at`` is ``before:create`` and the like, or empty;
    at ``hang_at`` the step waits for ever.

    ``chores``: whether it also looks for missed deliveries and polls, as the real one does.
    """

    settings: dict[str, Any]
    log: str
    kill_at: str = ""
    hang_at: str = ""
    review_seconds: float = 0.0
    chores: bool = False


class Zygote:
    """Forks workers on demand; ends with all of them when it is closed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self._pids: set[int] = set()
        self._lock = threading.Lock()

    def start(self, spec: WorkerSpec) -> int:
        """Fork a worker; its process id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # cases run in threads: a number that another case's worker has would be killed in its stead
        with self._lock:
            self._process.stdin.write(json.dumps(spec.__dict__) + "\n")
            self._process.stdin.flush()
            pid = int(self._process.stdout.readline())
        self._pids.add(pid)
        return pid

    def kill(self, pid: int) -> None:
        """SIGKILL."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self._pids.discard(pid)

    def close(self) -> None:
        for pid in list(self._pids):
            self.kill(pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=300)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def is_alive(pid: int) -> bool:
    """Whether the process runs (one that waits to be collected does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_for(what: Callable[[], bool], seconds: float, name: str) -> None:
    """Wait until ``what()`` is true."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name}: not within {seconds:g} s")
        time.sleep(0.05)


def _main() -> None:
    """The forking process: a line of JSON in, a process id out."""
    import bot.jobs.worker
    import bot.wiring
    import tests.e2e.small

    assert bot.jobs.worker
    assert bot.wiring
    assert tests.e2e.small
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            # os._exit: what the parent holds open is not this process's to close.
            code = 1
            try:
                code = _worker(WorkerSpec(**json.loads(line)))
            finally:
                os._exit(code)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _worker(spec: WorkerSpec) -> int:
    from bot.github.auth import AppIdentity, Pace
    from bot.jobs.worker import Worker
    from bot.logs import set_up
    from bot.metrics_export import Metrics
    from bot.settings import Settings
    from bot.store.ledger import Ledger
    from bot.wiring import build_services, chores_of
    from tests.e2e.small import SmallReviewer

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A test run that is itself killed leaves no worker behind.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with Path(spec.log).open("ab", buffering=0) as log:
        os.dup2(log.fileno(), 2)
        os.dup2(log.fileno(), 1)
    settings = Settings(**spec.settings)
    set_up("INFO", json_lines=True)
    ledger = Ledger(settings.database)
    assert settings.app_id is not None
    assert settings.private_key is not None
    identity = AppIdentity(
        settings.app_id,
        settings.private_key.get_secret_value(),
        settings.github_api_url,
        Pace(between_requests=0, between_writes=0, timeout=120, max_wait=2, backoff=0.05),
    )
    services = build_services(
        settings, ledger, SmallReviewer(spec.review_seconds), identity=identity
    )

    def watch(moment: str, step: str) -> None:
        if spec.kill_at == f"{moment}:{step}":
            os.kill(os.getpid(), signal.SIGKILL)
        if spec.hang_at == f"{moment}:{step}":
            threading.Event().wait()

    metrics = Metrics()
    chores = chores_of(settings, ledger, identity, metrics) if spec.chores else ()
    Worker(settings, ledger, services, metrics, watch, chores).run_until_signal()
    return 0


if __name__ == "__main__":
    _main()
