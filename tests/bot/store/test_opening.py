"""Opening and migrating one SQLite file from many processes in the same moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sqlalchemy as sa

from bot.store.database import Database

SCRIPT = """
import multiprocessing, sys
from bot.jobs.queue import migrate_queue
from bot.store.database import Database

def opens(url):
    database = Database(url)
    with database.read() as session:
        session.connection().exec_driver_sql("SELECT 1")
    database.dispose()

def migrates(url):
    migrate_queue(url)
    database = Database(url)
    database.migrate()
    assert database.is_current()
    database.dispose()

def at_the_gate(url):
    gate.wait()
    act(url)

folder, act = sys.argv[1], globals()[sys.argv[2]]
files, processes = int(sys.argv[3]), int(sys.argv[4])
fork = multiprocessing.get_context("fork")
gate = fork.Barrier(processes)
with fork.Pool(processes) as pool:
    for number in range(files):
        # whoever waits at the gate takes no second one: each process opens each file
        pool.map(at_the_gate, [f"sqlite:///{folder}/{number}.db"] * processes, 1)
"""


def at_once(act: str, folder: Path, files: int, processes: int) -> None:
    """Run the script; whatever goes wrong in any process fails the test."""
    arguments = [str(folder), act, str(files), str(processes)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert len(list(folder.glob("*.db"))) == files


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    # Six processes, thirty new files: SQLite refuses the switch to WAL at once, without waiting,
    # while another process makes it, so that one in a hundred openings used to fail.
    at_once("opens", tmp_path, 30, 6)


def test_processes_that_migrate_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    at_once("migrates", tmp_path, 4, 4)


def test_all_steps_of_a_migration_are_one_transaction(tmp_path: Path) -> None:
    # Were each step its own, a process that waits could go on from the step that another has
    # just left, and both would then make the same table.
    database = Database(f"sqlite:///{tmp_path / 'new.db'}")
    begun, committed = [], []
    sa.event.listen(database.engine, "begin", begun.append)
    sa.event.listen(database.engine, "commit", committed.append)
    database.migrate()
    assert (len(begun), len(committed)) == (1, 1)
    assert database.is_current()
