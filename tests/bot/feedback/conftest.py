from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bot.service import sqlite_template
from tests.github_double import Double

__all__ = ["sqlite_template"]


@pytest.fixture(scope="session")
def github() -> Iterator[Double]:
    """A double without the judge: whole lives are long, and every call was judged elsewhere."""
    with Double(judge="never") as double:
        yield double
