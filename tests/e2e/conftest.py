from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bot.service import postgres_template, sqlite_template
from tests.e2e.workers import Zygote
from tests.github_double import Double
from tests.postgres import postgres_base

__all__ = ["postgres_base", "postgres_template", "sqlite_template"]


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    with Zygote() as zygote:
        yield zygote


@pytest.fixture(scope="module")
def github() -> Iterator[Double]:
    """A double without the judge: these tests are about us, and count on its speed."""
    with Double(judge="never") as double:
        yield double
