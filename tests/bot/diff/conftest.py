"""Fixtures of the diff tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from .repos import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "project")
