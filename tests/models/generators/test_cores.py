"""Decoding keeps numpy's products on one core, and gives the cores back."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from models.generators.cores import one_core


def _blas():
    np.ones((4, 4)) @ np.ones((4, 4))
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        assert set(_blas()) == {2}
        yield


def test_within_it_every_blas_has_one_core_and_afterwards_what_it_had():
    with one_core():
        assert set(_blas()) == {1}
        with one_core():
            assert set(_blas()) == {1}
        assert set(_blas()) == {1}
    assert set(_blas()) == {2}


def test_a_fault_within_it_gives_the_cores_back():
    with pytest.raises(ZeroDivisionError), one_core():
        raise ZeroDivisionError
    assert set(_blas()) == {2}
