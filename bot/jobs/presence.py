"""A worker's lock on a file: how processes of one machine know that it runs, however late its beat.

A heartbeat goes through the database, and on an overloaded machine it comes late: then living
workers would take each other's jobs, each time a try, until a sound job is parked. The kernel is
never late. It keeps a lock for as long as the process lives and lets go of it at any death.

The lock only ever adds life. Where it cannot be seen (another machine, a file system without
locks) the heartbeat alone counts, as it does for a worker that holds its lock but has not beaten
for ``PATIENCE`` leases: a process that hangs is as good as dead.
"""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER = "workers"
PATIENCE = 10.0
"""A worker that holds its lock is given so many leases without a heartbeat."""
_SUFFIX = ".lock"


class Presence:
    """The locks of the workers that share a data folder; one a worker process.

    POSIX record locks: a child that outlives its worker does not inherit them.
    """

    def __init__(self, data_dir: Path, own: str) -> None:
        self._folder = data_dir / FOLDER
        self._own = own
        self._descriptor: int | None = None

    def announce(self) -> None:
        """Take the own lock and clear away the files of the dead; a folder that cannot be
        written leaves the heartbeat alone to count."""
        path = self._path(self._own)
        # Locked before it has its name: nobody ever sees it without its lock.
        unnamed = path.with_suffix(".new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                unnamed.rename(path)
            except OSError:
                os.close(descriptor)
                raise
        except OSError as error:
            log.warning("no lock in the data folder", extra={"reason": str(error)})
            return
        self._descriptor = descriptor
        self._clear()

    def leave(self) -> None:
        """Let go of the own lock."""
        if self._descriptor is not None:
            self._path(self._own).unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def holds(self, name: str) -> bool:
        """Whether another process holds that worker's lock; false where that cannot be seen."""
        if name == self._own:
            return True
        try:
            descriptor = os.open(self._path(name), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return False

    def _clear(self) -> None:
        for path in self._folder.glob(f"*{_SUFFIX}"):
            if not self.holds(path.name.removesuffix(_SUFFIX)):
                with suppress(OSError):
                    path.unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"
