"""Decoding keeps numpy's products on one core, and gives the cores back."""

import numpy as np
from threadpoolctl import threadpool_info

from models.generators.cores import one_core


def _blas():
    np.ones((4, 4)) @ np.ones((4, 4))
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_within_it_every_blas_has_one_core_and_afterwards_what_it_had():
    before = _blas()
    assert before
    with one_core():
        assert set(_blas()) == {1}
        with one_core():
            assert set(_blas()) == {1}
        assert set(_blas()) == {1}
    assert _blas() == before


def test_a_fault_within_it_gives_the_cores_back():
    before = _blas()
    try:
        with one_core():
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert _blas() == before
