"""For all tests: no network for models, and no silent skip where everything must be there."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

ALL_TOOLS = "MARGINALIA_TEST_ALL"
"""Set (by ``.ci/run``) where every outside tool is installed: then a skip is a failure."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skips into failures where ``MARGINALIA_TEST_ALL`` is set."""
    report = yield
    if report.skipped and os.environ.get(ALL_TOOLS) and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The data sets' folder; the test is skipped where ``MARGINALIA_DATA`` is not set."""
    named = os.environ.get("MARGINALIA_DATA")
    if not named:
        pytest.skip("needs the data sets: set MARGINALIA_DATA to their folder")
    return Path(named)
