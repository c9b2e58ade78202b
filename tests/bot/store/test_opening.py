"""Opening and migrating one SQLite file from many processes in the same moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sqlalchemy as sa

from bot.store.database import Database

SCRIPT = """
import multiprocessing, sys
from pathlib import Path
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

def repeats(act, folder, files, gate, faults):
    for number in range(files):
        gate.wait()
        try:
            act(f"sqlite:///{folder / str(number)}.db")
        except Exception as error:
            faults.put(f"{number}: {error}")
    faults.put(None)

act, files, processes = globals()[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4])
fork = multiprocessing.get_context("fork")
gate, faults = fork.Barrier(processes), fork.Queue()
children = [
    fork.Process(target=repeats, args=(act, Path(sys.argv[1]), files, gate, faults))
    for _ in range(processes)
]
for child in children:
    child.start()
while processes:
    fault = faults.get()
    processes -= fault is None
    if fault is not None:
        print(fault)
"""


def at_once(act: str, folder: Path, files: int, processes: int) -> tuple[int, str]:
    """The exit code of the script and what went wrong."""
    arguments = [str(folder), act, str(files), str(processes)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=300
    )
    assert len(list(folder.glob("*.db"))) == files
    return done.returncode, done.stdout


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    # Six processes, thirty new files: SQLite refuses the switch to WAL at once, without waiting,
    # while another process makes it, so that one in a hundred openings used to fail.
    assert at_once("opens", tmp_path, 30, 6) == (0, "")


def test_processes_that_migrate_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    assert at_once("migrates", tmp_path, 4, 4) == (0, "")


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
