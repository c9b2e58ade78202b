"""Fitting the difference: rows side by side do not see each other, and a killed run goes on."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from models.generators.base import Window
from models.generators.lora import WEIGHTS
from models.generators.smollm2 import BaseModel
from models.training import fit_requests
from models.training.fit_requests import (
    BEST,
    LONGEST,
    ROWS,
    Learner,
    Row,
    Told,
    fit,
    losses,
    packed,
    rate,
)
from models.training.requests import Asked
from tests.models.generators.tiny_gguf import tiny_llama, write_gguf

STEPS = 8
NAMES = ("items", "total", "first", "range")


def draw(rng: random.Random) -> Asked | None:
    name = rng.choice(NAMES)
    window = Window("python", ("def a():", f"    print({name})"), frozenset({1}), comment="remove")
    return Asked(window, (f"    return {name}",)) if rng.random() < 0.9 else None


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    return BaseModel(write_gguf(tmp_path_factory.mktemp("base") / "t.gguf", *tiny_llama()))


def learner(base: BaseModel) -> Learner:
    torch.manual_seed(0)
    return Learner(base, 4, [1])


def test_rows_side_by_side_have_the_losses_that_they_have_alone(base: BaseModel) -> None:
    made = learner(base)
    rng = random.Random(3)
    rows = [row for _ in range(6) if (asked := draw(rng)) and (row := made.row(asked))]
    alone = [made.loss([[row]]) for row in rows]
    together, tokens = made.loss([rows[:3], rows[3:]])
    assert tokens == sum(count for _, count in alone)
    each = sum(float(loss.detach()) for loss, _ in alone)
    assert float(together.detach()) == pytest.approx(each, rel=0.01)


def test_batches_are_filled_where_a_row_first_fits() -> None:
    sizes = [LONGEST - 10, 5, 6, *[LONGEST] * (ROWS - 2), 300, 30]
    batches = list(packed(Row((1,) * size, 0) for size in sizes))
    first, second = ([[len(row.ids) for row in rows] for rows in batch] for batch in batches)
    assert (first[:2], second[0]) == ([[LONGEST - 10, 5], [6, 300]], [30])
    assert sum(len(row.ids) for b in batches for rows in b for row in rows) == sum(sizes)


def test_the_rate_goes_up_and_then_down() -> None:
    rates = [rate(step, 200) for step in range(200)]
    top = rates.index(max(rates))
    assert all(a < b for a, b in itertools.pairwise(rates[: top + 1]))
    assert all(a >= b for a, b in itertools.pairwise(rates[top:]))


def test_a_run_that_was_killed_ends_as_one_that_was_not(
    base: BaseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_requests, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(fit_requests, "WARM_UP", 1)
    monkeypatch.setattr(fit_requests, "RATE", 0.01)
    told: list[Told] = []
    made = learner(base)
    asked = draw(random.Random(9))
    assert asked is not None
    row = made.row(asked)
    assert row is not None
    held = {"some": [row]}
    before = losses(made, held)["some"]
    fit(made, draw, held, tmp_path / "whole", STEPS, 7, told.append)
    assert [one.step for one in told] == list(range(1, STEPS + 1))
    assert told[-1].held["some"] < before - 0.5

    class Killed(Exception):
        pass

    def kill(one: Told) -> None:
        if one.step == STEPS - 1:
            raise Killed  # after the state of the step before was written, before that of this one

    with pytest.raises(Killed):
        fit(learner(base), draw, held, tmp_path / "killed", STEPS, 7, kill)
    torch.manual_seed(99)
    again: list[Told] = []
    fit(Learner(base, 4, [1]), draw, held, tmp_path / "killed", STEPS, 7, again.append)
    assert [one.step for one in again] == [STEPS - 1, STEPS]
    ends = [load_file(tmp_path / name / BEST / WEIGHTS) for name in ("whole", "killed")]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
