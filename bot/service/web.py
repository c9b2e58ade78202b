"""The web process: gunicorn with threads; it never loads a model nor launches the job library."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from prometheus_client import multiprocess

from bot import logs
from bot.errors import FatalError
from bot.metrics_export import SHARED_FOLDER
from bot.settings import Settings

BACKLOG = 1
GRACE_SECONDS = 30
HUNG_SECONDS = 60
"""A process that did not answer its master for so long is replaced."""


class WebServer(BaseApplication):  # type: ignore[misc]
    """Serves what ``make`` makes, in ``settings.web_processes`` processes of threads.

    ``make`` runs in each process after the fork: connections are never shared across one.
    """

    def __init__(self, settings: Settings, make: Callable[[], Flask]) -> None:
        self._settings = settings
        self._make = make
        super().__init__()

    def load_config(self) -> None:
        """gunicorn's settings."""
        settings = self._settings
        options: dict[str, Any] = {
            "bind": f"{_bracketed(settings.host)}:{settings.port}",
            "workers": settings.web_processes,
            "threads": settings.web_threads,
            "worker_class": "gthread",
            "graceful_timeout": GRACE_SECONDS,
            "timeout": HUNG_SECONDS,
            "keepalive": 30,
            "loglevel": "warning",
            "when_ready": _adopt_logs,
            "post_worker_init": _adopt_logs,
            "child_exit": _forget_process,
            "proc_name": "marginalia-web",
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application of one process."""
        return self._make()


def check_address(host: str, port: int) -> int:
    """The port, a free one for 0; refuses an address where nothing can listen (``FatalError``).

    Before anything starts: the server itself would try five times and say each in two lines.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            # as the server does: what only lingers after an end is no hindrance
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(BACKLOG)
            return int(probe.getsockname()[1])
    except OSError as error:
        raise FatalError(
            f"cannot listen on {_bracketed(host)}:{port}: {error.strerror}: choose another address "
            "by --host and --port (MARGINALIA_HOST, MARGINALIA_PORT), or stop what listens there"
        ) from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _adopt_logs(_server: Any) -> None:
    logs.adopt("gunicorn.error", *logs.LOUD)


def _forget_process(_server: Any, worker: Any) -> None:
    if os.environ.get(SHARED_FOLDER):
        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
