"""Analyzers are limited by processor time: a busy machine costs no finding, a loop is stopped."""

from __future__ import annotations

import time

import pytest

from models.analyzers.base import analyze
from models.analyzers.process import AnalyzerFailure, Budget, execute
from models.analyzers.ruff import Ruff
from tests.models.analyzers.test_analyzer_frame import SMELL, script

FOUND = (
    '[{"code": "B006", "filename": "a.py", "message": "x", "location": {"row": 1, "column": 1},'
    ' "end_location": {"row": 1, "column": 2}}]'
)
BURN = "while time.process_time() < {seconds}: pass\n"


def test_time_that_a_tool_waits_for_the_processor_is_not_its_own(tmp_path):
    # asleep, as it would be beside other processes, for longer than the processor time it may use
    tool = script(tmp_path, f"import time\ntime.sleep(2.5)\nprint('''{FOUND}''')\n")
    report = analyze([Ruff(tool)], {"a.py": SMELL}, time_limit_s=2.0)
    assert [one.rule for one in report.findings] == ["B006"]
    assert report.notes == ()
    assert report.seconds_by_analyzer["ruff"] >= 2.5


def test_a_tool_that_never_ends_its_work_is_stopped(tmp_path):
    tool = script(tmp_path, "while True: pass\n")
    report = analyze([Ruff(tool)], {"a.py": SMELL}, time_limit_s=1.0)
    assert report.notes == ("ruff: broke off: tool: stopped after 1 s of processor time",)
    assert report.broke_off == {"ruff"}


def test_one_that_does_not_heed_the_signal_is_stopped_too(tmp_path):
    tool = script(
        tmp_path,
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass\n",
    )
    report = analyze([Ruff(tool)], {"a.py": SMELL}, time_limit_s=1.0)
    assert report.notes == ("ruff: broke off: tool: stopped after 1 s of processor time",)


def test_what_a_tool_starts_has_the_limit_as_well(tmp_path):
    tool = script(
        tmp_path,
        "import subprocess, sys\n"
        "child = subprocess.run([sys.executable, '-c', 'while True: pass'])\n"
        "sys.exit(128 - child.returncode)\n",
    )
    report = analyze([Ruff(tool)], {"a.py": SMELL}, time_limit_s=1.0)
    assert report.notes == ("ruff: broke off: tool: stopped after 1 s of processor time",)


def test_all_commands_of_a_tool_share_its_time(tmp_path):
    tool = script(tmp_path, "import time\n" + BURN.format(seconds=0.6))
    budget = Budget.of(1.0)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    execute([tool], cwd=tmp_path, scratch=scratch, budget=budget)
    assert budget.processor_s < 0.5
    execute([tool], cwd=tmp_path, scratch=scratch, budget=budget)
    with pytest.raises(AnalyzerFailure, match="tool: no time left to run"):
        execute([tool], cwd=tmp_path, scratch=scratch, budget=budget)


def test_by_the_clock_a_tool_has_a_multiple_of_it(tmp_path):
    began = time.monotonic()
    assert Budget.of(30.0).deadline - began >= 240
    assert Budget.of(30.0, 5.0).deadline - began < 230
    with pytest.raises(AnalyzerFailure, match="no time left"):
        execute(["/bin/true"], cwd=tmp_path, scratch=tmp_path, budget=Budget.of(1.0, 0.0))
