"""A worker's lock in the data folder: seen by others while it lives, never in anybody's way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from bot.jobs.presence import Presence


def holder(folder: Path, name: str) -> tuple[int, int]:
    """A process that holds a lock until it is killed; its id, and a pipe that ends with it."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            Presence(folder, name).announce()
            os.write(tell, b"held")
            signal.pause()
        finally:
            os._exit(1)  # whatever happens, this copy of the test run ends here
    os.close(tell)
    assert os.read(told, 4) == b"held"
    return pid, told


def test_a_lock_is_seen_until_its_process_dies(tmp_path: Path) -> None:
    pid, pipe = holder(tmp_path, "w:1:a")
    mine = Presence(tmp_path, "w:2:b")
    assert mine.holds("w:1:a")
    assert mine.holds("w:2:b"), "who asks is alive"
    assert not mine.holds("w:3:c"), "never heard of"
    mine.announce()
    assert {path.name for path in (tmp_path / "workers").iterdir()} == {"w:1:a.lock", "w:2:b.lock"}
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(pipe)
    assert not mine.holds("w:1:a")
    later = Presence(tmp_path, "w:4:d")
    later.announce()
    names = {path.name for path in (tmp_path / "workers").iterdir()}
    assert "w:1:a.lock" not in names, "the dead's file is cleared away"
    later.leave()
    mine.leave()
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_folder_that_takes_no_locks_is_no_trouble(tmp_path: Path, caplog) -> None:
    (tmp_path / "workers").write_text("a file where the folder should be")
    presence = Presence(tmp_path, "w:1:a")
    presence.announce()
    assert "no lock in the data folder" in caplog.text
    assert not presence.holds("w:2:b")
    presence.leave()
