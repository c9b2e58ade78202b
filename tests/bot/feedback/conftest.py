from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.github_double import Double


@pytest.fixture(scope="session")
def github() -> Iterator[Double]:
    """A double without the judge: whole lives are long, and every call was judged elsewhere."""
    with Double(judge="never") as double:
        yield double
