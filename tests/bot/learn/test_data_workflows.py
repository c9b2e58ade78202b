"""``data delete`` after a real worker's reviews: the job library keeps no word of them either."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import sqlalchemy as sa
from dbos import DBOSClient

from bot.jobs.queue import SCHEMA
from bot.store.tables import Base, Job, JobState
from tests.bot.jobs.bench import Bench, bench, wait
from tests.bot.service import state

__all__ = ["bench"]
TITLE = "A plan that nobody else may know"


def kept(bench: Bench) -> str:
    """Every cell of the job library's tables."""
    engine = bench.ledger.database.engine
    schema = None if engine.dialect.name == "sqlite" else SCHEMA
    tables = sa.MetaData()
    tables.reflect(engine, schema=schema)
    own = set(Base.metadata.tables)
    with engine.connect() as connection:
        return repr(
            [
                [tuple(row) for row in connection.execute(sa.select(table))]
                for table in tables.sorted_tables
                if table.name not in own
            ]
        )


def finished(client: DBOSClient) -> bool:
    return all(one.status == "SUCCESS" for one in client.list_workflows())


def test_the_job_librarys_finished_work_is_deleted_too(bench: Bench) -> None:
    bench.forge.state = state(title=TITLE, author="ann")
    bench.start()
    bench.handled(bench.deliver())
    bench.ended()
    wait(lambda: finished(bench.queue.client), "the end of the workflows")
    assert bench.worker is not None
    bench.worker.stop()
    bench.worker = None
    assert TITLE in kept(bench)
    environment = {
        **os.environ,
        "MARGINALIA_DATABASE_URL": bench.settings.database,
        "MARGINALIA_DATA_DIR": str(bench.settings.data_dir),
    }
    command = [sys.executable, "-m", "bot.cli", "data", "delete", "--repo"]

    def delete(repository: str) -> dict[str, object]:
        done = subprocess.run(
            [*command, repository], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        last: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
        return last

    assert delete("o/another") == {"kind": "workflow", "deleted": 0}
    # what is not at its end is left: here a job that another worker has taken up again
    with bench.ledger.database.write() as session:
        session.execute(sa.update(Job).values(state=JobState.RUNNING.value))
    assert delete("o/r") == {"kind": "workflow", "deleted": 0}
    with bench.ledger.database.write() as session:
        session.execute(sa.update(Job).values(state=JobState.DONE.value))
    assert delete("o/r") == {"kind": "workflow", "deleted": 1}
    assert TITLE not in kept(bench)
