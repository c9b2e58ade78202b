"""One service against the double of GitHub: settings, a web application, workers."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from flask.testing import FlaskClient

from bot.app import create_app
from bot.jobs.queue import JobQueue
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.store.tables import UNFINISHED, Delivery, DeliveryState, Job
from tests.e2e.workers import WorkerSpec, Zygote
from tests.github_double.client import AppKeys, Double

SECRET = "e2e-secret"
HANG = 5.0
"""Seconds after which a worker that is told to hang ends itself."""
_routes = threading.Lock()
"""Flask builds routes by ``ast.parse``. In CPython 3.11 that raises SystemError ("recursion depth
mismatch") where a collection in the midst of one call lets another thread begin one: seen once in
100,000 calls of four threads. A service builds its routes once, before there are threads."""


@dataclass
class Site:
    """A web process (inside the test) and its workers on one database."""

    settings: Settings
    zygote: Zygote
    folder: Path
    ledger: Ledger = field(init=False)
    client: FlaskClient = field(init=False)
    pids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.settings.database)
        self._queue = JobQueue(self.settings.database, self.settings.job_version)
        with _routes:
            self.client = create_app(self.settings, self.ledger, self._queue).test_client()

    def close(self) -> None:
        for pid in self.pids:
            self.zygote.kill(pid)
        self.ledger.close()
        self._queue.close()

    def worker(
        self,
        kill_at: str = "",
        review_seconds: float = 0.0,
        chores: bool = False,
        hang_at: str = "",
    ) -> int:
        """Start a worker; its process id."""
        pid = self.zygote.start(
            WorkerSpec(
                settings={**plain(self.settings), **({"stall_after": HANG} if hang_at else {})},
                log=str(self.folder / "workers.log"),
                kill_at=kill_at,
                hang_at=hang_at,
                review_seconds=review_seconds,
                chores=chores,
            )
        )
        self.pids.append(pid)
        return pid

    def settled(self) -> bool:
        """Whether every recorded delivery was handled and every job has ended."""
        with self.ledger.database.read() as session:
            waiting = sa.select(sa.func.count()).where(Delivery.state == DeliveryState.RECEIVED)
            open_jobs = sa.select(sa.func.count()).where(Job.state.in_(UNFINISHED))
            return (
                not session.execute(waiting).scalar_one() + session.execute(open_jobs).scalar_one()
            )

    def log(self) -> str:
        path = self.folder / "workers.log"
        return path.read_text("utf-8", "replace")[-20_000:] if path.exists() else ""

    def post(
        self, event: str, payload: Mapping[str, Any], guid: str = "", target: str = "integration:1"
    ) -> int:
        """Deliver as GitHub does; the answer's status."""
        body = json.dumps(payload).encode()
        kind, _, number = target.partition(":")
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        answer = self.client.post(
            "/webhook",
            data=body,
            headers={
                "Content-Type": "application/json",
                "X-GitHub-Event": event,
                "X-GitHub-Delivery": guid or str(uuid.uuid4()),
                "X-GitHub-Hook-Installation-Target-Type": kind,
                "X-GitHub-Hook-Installation-Target-ID": number,
                "X-Hub-Signature-256": f"sha256={signature}",
            },
        )
        return answer.status_code


def service_settings(
    github: Double, app: AppKeys, database_url: str, folder: Path, **more: Any
) -> Settings:
    """Settings with short times, so that a takeover takes seconds."""
    values: dict[str, Any] = {
        "data_dir": folder,
        "database_url": database_url,
        "webhook_secret": SECRET,
        "github_api_url": github.url,
        "github_url": github.url,
        "app_id": app.id,
        "private_key": app.pem,
        # Not more often: on SQLite each look takes the lock, and a starved machine has few to give.
        "poll_interval": 0.3,
        # Long enough that a loaded machine does not make living workers look dead at every turn,
        # and tries enough for when it does: the tests of parking set their own.
        "heartbeat": 1.0,
        "lease": 5.0,
        "max_tries": 30,
        # far above any step here: a hang ends with every thread's state in the log
        "stall_after": 90.0,
        "sweep_interval": 1.0,
        "retry_delay": 0.2,
        "retry_delay_max": 1.0,
        "drain": 1,
        "deliveries_per_machine": 4,
        "jobs_per_machine": 4,
        "jobs_per_repository": 16,
    }
    return Settings(**{**values, **more})


def plain(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values, for another process."""
    values = settings.model_dump(exclude_unset=True)
    return {
        name: value.get_secret_value() if hasattr(value, "get_secret_value") else _text(value)
        for name, value in values.items()
    }


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
