"""A worker's own alarm: a step that makes no progress ends the process, which is started anew.

A heartbeat says that a process lives, not that its work goes on: a thread that waits for ever keeps
its job for ever, and so does a process whose every thread waits. Both are seen from inside. What
every thread was doing is written to standard error first, for the bug report; the job is then taken
over as after any other crash, and counts a try, so that a step that always hangs is parked.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

_STDERR = 2
EXIT_STALLED = 70
"""The exit code of a worker that ended itself (``EX_SOFTWARE``)."""


class Stalls:
    """Which steps run and when each last made progress. Thread-safe.

    Args:
        after: seconds without progress that count as a stall.
        clock: monotonic seconds.
    """

    def __init__(self, after: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.after = after
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[str, float]] = {}

    @contextmanager
    def step(self, job: str, name: str) -> Iterator[None]:
        """A step runs inside."""
        with self._lock:
            self._seen[job] = (name, self._clock())
        try:
            yield
        finally:
            with self._lock:
                self._seen.pop(job, None)

    def progress(self, job: str) -> None:
        """The step of ``job`` goes on."""
        with self._lock:
            if job in self._seen:
                self._seen[job] = (self._seen[job][0], self._clock())

    def stalled(self) -> tuple[str, str, float] | None:
        """Job, step and seconds of one that stalls; ``None`` where all go on."""
        now = self._clock()
        with self._lock:
            for job, (name, seen) in self._seen.items():
                if now - seen > self.after:
                    return job, name, now - seen
        return None

    def look(self) -> None:
        """Look at all steps; to be called often. Ends the process where one stalls.

        Each call also sets the alarm anew that ends a process in which nothing runs any more: it
        is kept by a thread outside Python's own and needs no lock.
        """
        faulthandler.dump_traceback_later(self.after, exit=True, file=_STDERR)
        found = self.stalled()
        if found is None:
            return
        job, name, seconds = found
        log.critical(
            "a step stalls; this worker ends and is started anew",
            extra={"stalled": job, "step": name, "seconds": round(seconds)},
        )
        faulthandler.dump_traceback(file=_STDERR, all_threads=True)
        os._exit(EXIT_STALLED)

    @staticmethod
    def rest() -> None:
        """No alarm any more: the worker stops in good order."""
        faulthandler.cancel_dump_traceback_later()
