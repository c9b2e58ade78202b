"""``marginalia serve``: web and worker as two processes, kept alive until they are to stop."""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType

log = logging.getLogger(__name__)

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
STEADY_SECONDS = 60.0
"""A process that ran for so long starts anew without a wait."""


@dataclass
class _Child:
    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    not_before: float = 0.0
    wait: float = field(default=FIRST_WAIT)


class Supervisor:
    """Runs processes and starts them anew when they end; ends when told by a signal."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._stop = threading.Event()

    def listen(self) -> None:
        """Stop at SIGTERM and SIGINT."""

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            self._stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, on_signal)

    def run(
        self,
        commands: Mapping[str, Sequence[str]],
        grace: float,
        until: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Keep the named commands running; true where ``until`` ended it, false at a signal.

        ``grace`` is how long a process may take to stop before it is killed.
        """
        children = [_Child(name, command) for name, command in commands.items()]
        try:
            while not self._stop.is_set():
                if until():
                    return True
                for child in children:
                    self._tend(child)
                self._stop.wait(0.5)
            return False
        finally:
            self._end(children, grace)

    def _tend(self, child: _Child) -> None:
        now = time.monotonic()
        if child.process is not None:
            code = child.process.poll()
            if code is None:
                return
            steady = now - child.started > STEADY_SECONDS
            child.wait = FIRST_WAIT if steady else min(LONGEST_WAIT, child.wait * 2)
            child.not_before = now if steady else now + child.wait
            child.process = None
            log.error("a process ended", extra={"child": child.name, "status": code})
        if now >= child.not_before:
            child.process = subprocess.Popen(list(child.command), env=self._env)
            child.started = now

    @staticmethod
    def _end(children: Sequence[_Child], grace: float) -> None:
        running = [child.process for child in children if child.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + grace
        for process in running:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
