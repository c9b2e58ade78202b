"""Systems are tested on toy data with one thread: shared processors make more threads slower."""

import pytest
import torch

from models.benchmark.toy import toy_examples


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def toys():
    return toy_examples(16)
