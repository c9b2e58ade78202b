"""Small products on one core each, so that a busy machine does not stop them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_core() -> Iterator[None]:
    """Within it the products of numpy's BLAS stay on the calling core.

    A step of decoding is some thirty products of microseconds. Shared among cores, each waits for
    the slowest of them, and a core that another program has taken is slow a thousand times.
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield
