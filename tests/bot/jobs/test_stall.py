"""A step that hangs ends its worker, and says what every thread was doing."""

from __future__ import annotations

import subprocess
import sys

from bot.jobs.stall import EXIT_STALLED, Stalls


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_step_stalls_without_progress_only() -> None:
    clock = Clock()
    stalls = Stalls(10.0, clock)
    with stalls.step("job 1", "review"), stalls.step("job 2", "create"):
        clock.now += 9
        assert stalls.stalled() is None
        stalls.progress("job 1")
        clock.now += 2
        assert stalls.stalled() == ("job 2", "create", 11.0)
    assert stalls.stalled() is None, "steps that have ended do not stall"
    stalls.progress("job 1")
    clock.now += 100
    assert stalls.stalled() is None, "late progress of an ended step starts nothing"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


def test_the_process_ends_and_shows_its_threads() -> None:
    done = run(
        "import time\n"
        "from bot.jobs.stall import Stalls\n"
        "def the_step_that_hangs(stalls):\n"
        "    with stalls.step('job 7', 'create'):\n"
        "        time.sleep(0.2)\n"
        "        stalls.look()\n"
        "the_step_that_hangs(Stalls(0.1))\n"
    )
    assert done.returncode == EXIT_STALLED
    assert "the_step_that_hangs" in done.stderr


def test_a_process_in_which_nothing_runs_any_more_ends_too() -> None:
    done = run(
        "import time\n"
        "from bot.jobs.stall import Stalls\n"
        "Stalls(0.3).look()\n"
        "time.sleep(50)  # nobody looks again\n"
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr


def test_a_worker_that_stops_in_good_order_has_no_alarm() -> None:
    done = run(
        "import time\n"
        "from bot.jobs.stall import Stalls\n"
        "stalls = Stalls(0.2)\n"
        "stalls.look()\n"
        "stalls.rest()\n"
        "time.sleep(0.5)\n"
    )
    assert (done.returncode, done.stderr) == (0, "")
