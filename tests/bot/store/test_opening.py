"""Opening one SQLite file from many processes in the same moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import multiprocessing, sys
from pathlib import Path
from bot.store.database import Database

def opens(folder, gate, faults):
    for number in range(30):
        gate.wait()
        database = Database(f"sqlite:///{folder / str(number)}.db")
        try:
            with database.read() as session:
                session.connection().exec_driver_sql("SELECT 1")
        except Exception as error:
            faults.put(f"{number}: {error}")
        database.dispose()
    faults.put(None)

fork = multiprocessing.get_context("fork")
gate, faults = fork.Barrier(6), fork.Queue()
children = [
    fork.Process(target=opens, args=(Path(sys.argv[1]), gate, faults)) for _ in range(6)
]
for child in children:
    child.start()
running = len(children)
while running:
    fault = faults.get()
    running -= fault is None
    if fault is not None:
        print(fault)
"""


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    # Six processes, thirty new files: SQLite refuses the switch to WAL at once, without waiting,
    # while another process makes it, so that one in a hundred openings used to fail.
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list(tmp_path.glob("*.db"))) == 30
