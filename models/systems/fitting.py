"""One training loop for every system: seeded, validated, and able to go on after a kill.

Two fits with equal rows, schedule and thread count on one machine give equal weights.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from models.systems.base import FitReport, Progress, Step
from models.systems.recipes import Schedule

Row = TypeVar("Row")

STATE_SECONDS = 300.0
"""A fit with a state folder writes it this often, so that a kill costs no more."""

_CHUNK = 64
"""Rows are sorted by length within runs of this many batches, so that little is padding."""


@dataclass(slots=True)
class _Place:
    """Where a fit stands: everything but the weights that a resumed fit needs."""

    step: int = 0
    epoch: int = 0
    position: int = 0
    seconds: float = 0.0
    best: float = math.inf
    best_step: int = 0
    worse: int = 0
    losses: list[float] = field(default_factory=list)


def rate_factor(schedule: Schedule, step: int, width: int) -> float:
    """The learning rate of a step (from 1) over the schedule's ``rate``.

    ``noam`` is width^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al., 2017, eq. 3).
    """
    if schedule.decay == "noam":
        warmup = max(schedule.warmup, 1)
        return float(width**-0.5 * min(step**-0.5, step * warmup**-1.5))
    rising = min(1.0, step / schedule.warmup) if schedule.warmup else 1.0
    if schedule.decay == "constant":
        return rising
    left = (schedule.steps - step + 1) / max(1, schedule.steps - schedule.warmup)
    return min(rising, max(0.0, left))


def fit_model(
    model: nn.Module,
    train: Sequence[Row],
    valid: Sequence[Row],
    loss: Callable[[Sequence[Row]], torch.Tensor],
    length: Callable[[Row], int],
    schedule: Schedule,
    width: int,
    progress: Progress | None = None,
    state: Path | None = None,
) -> FitReport:
    """Fit ``model`` to ``train`` and leave it with the weights that did best on ``valid``.

    ``loss`` gives the mean loss of some rows, ``length`` the size by which rows are batched
    together. Without ``valid`` the last weights are kept. ``state`` is a folder in which a
    killed fit with the same arguments goes on.
    """
    epochs = min(schedule.epochs, math.ceil(schedule.steps / max(1, len(train) // schedule.batch)))
    steps = min(schedule.steps, epochs * math.ceil(len(train) / schedule.batch))
    optimizer = _optimizer(model, schedule)
    place = _Place()
    best: dict[str, torch.Tensor] | None = None
    path = state / "fit.pt" if state is not None else None
    if path is not None and path.exists():
        best = _resume(path, model, optimizer, place)
    saved = time.monotonic()
    stop = False
    while place.step < steps and not stop:
        batches = _batches(train, length, schedule, place.epoch)
        for batch in batches[place.position :]:
            if place.step >= steps or stop:
                break
            began = time.monotonic()
            place.step += 1
            place.position += 1
            value = _step(model, optimizer, batch, loss, schedule, place.step, width)
            place.losses = [*place.losses[-99:], value]
            measured = None
            if valid and (place.step % schedule.validate_every == 0 or place.step == steps):
                measured = validate(model, valid, loss, length, schedule.batch)
                if measured < place.best:
                    place.best, place.best_step, place.worse = measured, place.step, 0
                    best = {name: tensor.clone() for name, tensor in model.state_dict().items()}
                else:
                    place.worse += 1
                    stop = bool(schedule.patience) and place.worse >= schedule.patience
            place.seconds += time.monotonic() - began
            if progress is not None:
                progress(Step(place.step, steps, value, measured))
            if path is not None and time.monotonic() - saved >= STATE_SECONDS:
                _save(path, model, optimizer, place, best)
                saved = time.monotonic()
        else:
            place.epoch += 1
            place.position = 0
    if best is not None:
        model.load_state_dict(best)
    model.eval()
    return FitReport(
        steps=place.step,
        loss=sum(place.losses) / max(1, len(place.losses)),
        validation=place.best if best is not None else None,
        best_step=place.best_step if best is not None else place.step,
        seconds=round(place.seconds, 1),
        examples=len(train),
    )


@torch.inference_mode()
def validate(
    model: nn.Module,
    rows: Sequence[Row],
    loss: Callable[[Sequence[Row]], torch.Tensor],
    length: Callable[[Row], int],
    batch: int,
) -> float:
    """The mean loss over ``rows``, each batch weighted by its rows; the model is left training."""
    model.eval()
    ordered = sorted(rows, key=length)
    total = 0.0
    for start in range(0, len(ordered), batch):
        part = ordered[start : start + batch]
        total += float(loss(part)) * len(part)
    model.train()
    return total / len(ordered)


def _optimizer(model: nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if schedule.optimizer == "adam":
        return torch.optim.Adam(weights, lr=schedule.rate, betas=(0.9, 0.998), eps=1e-8)
    return torch.optim.AdamW(weights, lr=schedule.rate, weight_decay=schedule.weight_decay)


def _batches(
    rows: Sequence[Row], length: Callable[[Row], int], schedule: Schedule, epoch: int
) -> list[list[Row]]:
    """One epoch's batches: rows shuffled, then of like length within runs of batches."""
    rng = random.Random(f"{schedule.seed}:{epoch}")  # noqa: S311 - order, not secrecy
    order = list(range(len(rows)))
    rng.shuffle(order)
    run = schedule.batch * _CHUNK
    batches: list[list[Row]] = []
    for start in range(0, len(order), run):
        part = sorted(order[start : start + run], key=lambda index: length(rows[index]))
        batches += [
            [rows[index] for index in part[i : i + schedule.batch]]
            for i in range(0, len(part), schedule.batch)
        ]
    rng.shuffle(batches)
    return batches


def _step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Sequence[Row],
    loss: Callable[[Sequence[Row]], torch.Tensor],
    schedule: Schedule,
    step: int,
    width: int,
) -> float:
    # Dropout depends on the step alone, so that a resumed fit makes the same steps.
    torch.manual_seed(schedule.seed * 1_000_003 + step)
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = schedule.rate * rate_factor(schedule, step, width)
    optimizer.zero_grad(set_to_none=True)
    value = loss(batch)
    value.backward()  # type: ignore[no-untyped-call]
    if schedule.clip:
        nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
    optimizer.step()
    return float(value.detach())


def _save(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    place: _Place,
    best: dict[str, torch.Tensor] | None,
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    values: dict[str, Any] = {name: getattr(place, name) for name in _Place.__slots__}
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "place": values,
            "best": best,
        },
        new,
    )
    new.replace(path)  # a kill while writing leaves the older state whole


def _resume(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, place: _Place
) -> dict[str, torch.Tensor] | None:
    stored = torch.load(path, weights_only=True)
    model.load_state_dict(stored["model"])
    optimizer.load_state_dict(stored["optimizer"])
    for name, value in stored["place"].items():
        setattr(place, name, value)
    best: dict[str, torch.Tensor] | None = stored["best"]
    return best
