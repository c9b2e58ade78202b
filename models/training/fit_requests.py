"""Fit the difference to SmolLM2 that answers reviewers' comments in every language
(``marginalia train --mixture requests``).

What a step learns from depends on the seed and its number alone, so a run that was killed goes on
as if it had not been: it writes its state every ten minutes.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from models.generators.base import GeneratorError
from models.generators.lora import add_lora, save_lora
from models.generators.request_format import request_of
from models.generators.requests_model import CARD, INSTALL, NAME, base_file
from models.generators.smollm2 import END, BaseModel, mark_id
from models.training.card import LOSS_PLOT
from models.training.progress import History, Progress, Show, position
from models.training.requests import Asked, Reviews, commits, mixture, suggestions

RANK = 32
BLOCKS = range(10, 30)
"""The blocks that learn: what is below the tenth stays, and costs no way back."""
RATE, WARM_UP, LEAST_RATE = 1e-3, 40, 0.05
ROWS, LONGEST = 8, 320
"""A batch: examples side by side in so many rows of so many tokens, none of which sees another."""
STATE, LOG, BEST = "state.pt", "log.jsonl", "best"
STEPS = 900
"""Of the run that the shipped difference is from."""
SAVE_EVERY = 600.0
CHECK_EVERY = 150

Draw = Callable[[random.Random], "Asked | None"]


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids, of which the first ``prompt`` carry no loss."""

    ids: tuple[int, ...]
    prompt: int


@dataclass(frozen=True, slots=True)
class Told:
    """One step: its loss a token, its tokens, and now and then the losses of what is held out."""

    step: int
    loss: float
    tokens: int
    held: Mapping[str, float]


class Learner:
    """The model with its difference, and the losses of rows.

    ``compiled`` needs a C++ compiler and a minute at the start; a step then takes four fifths of
    its time, for half of it goes into small steps, which the compiler joins.
    """

    def __init__(
        self,
        base: BaseModel,
        rank: int = RANK,
        blocks: Sequence[int] = BLOCKS,
        *,
        compiled: bool = False,
    ) -> None:
        self.rank = rank
        self.tokenizer = base.tokenizer()
        self.end = mark_id(self.tokenizer, END)
        self.model = base.model(torch.bfloat16)
        self.model.set_attn_implementation("eager")  # whose way back is the quicker one on CPUs
        self.parts = add_lora(self.model, rank, blocks)
        self.model.train()
        if compiled:
            for layer in self.model.model.layers:
                layer.forward = torch.compile(layer.forward, dynamic=False)
        self.causal = torch.ones(LONGEST, LONGEST, dtype=torch.bool).tril()

    def row(self, asked: Asked) -> Row | None:
        """An example as ids; ``None`` where it cannot be asked, or is too long."""
        request = request_of(asked.window)
        if request is None:
            return None
        prompt = request.ids(self.tokenizer)
        answer = [*self.tokenizer.encode(request.written(asked.revised)).ids, self.end]
        ids = (*prompt, *answer)
        return Row(ids, len(prompt)) if len(ids) <= LONGEST else None

    def loss(self, packed: Sequence[Sequence[Row]]) -> tuple[torch.Tensor, int]:
        """The sum of the losses of the answers' tokens, and how many they are."""
        ids = torch.zeros(len(packed), LONGEST, dtype=torch.long)
        places = torch.zeros(len(packed), LONGEST, dtype=torch.long)
        owner = torch.full((len(packed), LONGEST), -1)
        counted = torch.zeros(len(packed), LONGEST, dtype=torch.bool)
        for number, rows in enumerate(packed):
            start = 0
            for one, row in enumerate(rows):
                end = start + len(row.ids)
                ids[number, start:end] = torch.tensor(row.ids)
                places[number, start:end] = torch.arange(len(row.ids))
                owner[number, start:end] = one
                counted[number, start + row.prompt : end] = True
                start = end
        seen = (owner[:, :, None] == owner[:, None, :]) & self.causal
        mask = torch.where(seen, 0.0, torch.finfo(torch.bfloat16).min)[:, None].bfloat16()
        hidden = self.model.model(
            input_ids=ids, position_ids=places, attention_mask=mask, use_cache=False
        ).last_hidden_state
        logits = self.model.lm_head(hidden[:, :-1][counted[:, 1:]])
        total = nn.functional.cross_entropy(logits.float(), ids[counted], reduction="sum")
        return total, int(counted.sum())


def packed(rows: Iterable[Row]) -> Iterator[list[list[Row]]]:
    """Batches of rows, each example where it first fits; the last batch may have room."""
    batch: list[list[Row]] = [[] for _ in range(ROWS)]
    room = [LONGEST] * ROWS
    for row in rows:
        fits = [place for place in range(ROWS) if room[place] >= len(row.ids)]
        if not fits:
            yield batch
            batch, room, fits = [[] for _ in range(ROWS)], [LONGEST] * ROWS, [0]
        batch[fits[0]].append(row)
        room[fits[0]] -= len(row.ids)
    if any(batch):
        yield batch


def step_rows(learner: Learner, draw: Draw, seed: int, step: int) -> list[list[Row]]:
    """The batch of one step."""
    rng = random.Random(f"{seed}-{step}")  # noqa: S311 - drawn anew at each start
    drawn = (draw(rng) for _ in itertools.count())
    rows = (learner.row(asked) for asked in drawn if asked is not None)
    return next(packed(row for row in rows if row is not None))


def rate(step: int, steps: int) -> float:
    """Up in a line, then down in a line."""
    if step < WARM_UP:
        return RATE * (step + 1) / WARM_UP
    return RATE * max(LEAST_RATE, (steps - step) / max(1, steps - WARM_UP))


def held_out(learner: Learner, folder: Path, most: int) -> dict[str, list[Row]]:
    """Rows of each source that are not trained on."""
    rng = random.Random(0)  # noqa: S311 - a fixed sample, no secret
    reviews = Reviews(folder, held=True)
    drawn = [reviews.asked(row, rng) for row in reviews.rows[:most]]
    small = commits(folder, "validation")
    sets = {
        "suggestions": suggestions(folder, "validation"),
        "reviews": [asked for asked in drawn if asked is not None],
        "commits": rng.sample(small, min(most, len(small))),
    }
    return {
        name: [row for row in map(learner.row, those) if row is not None]
        for name, those in sets.items()
    }


@torch.no_grad()
def losses(learner: Learner, held: dict[str, list[Row]]) -> dict[str, float]:
    """The loss a token of each set."""
    found = {}
    for name, rows in held.items():
        total, count = 0.0, 0
        for batch in packed(rows):
            loss, tokens = learner.loss(batch)
            total, count = total + float(loss), count + tokens
        found[name] = round(total / max(1, count), 4)
    return found


def fit(
    learner: Learner,
    draw: Draw,
    held: dict[str, list[Row]],
    out: Path,
    steps: int,
    seed: int,
    tell: Callable[[Told], None],
) -> None:
    """Make ``steps`` steps, those of an earlier run included, and write the difference."""
    parameters = list(learner.parts.values())
    optimizer = torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    out.mkdir(parents=True, exist_ok=True)
    first = 0
    if (out / STATE).exists():
        state = torch.load(out / STATE, weights_only=True)
        for name, value in state["parts"].items():
            learner.parts[name].data.copy_(value)
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    saved = time.monotonic()
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps)
        batch = step_rows(learner, draw, seed, step)
        loss, answered = learner.loss(batch)
        (loss / answered).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        check = (step + 1) % CHECK_EVERY == 0 or step + 1 == steps
        tell(
            Told(
                step + 1,
                round(float(loss.detach()) / answered, 4),
                sum(len(row.ids) for rows in batch for row in rows),
                losses(learner, held) if check else {},
            )
        )
        if time.monotonic() - saved > SAVE_EVERY or step + 1 == steps:
            _save(learner, optimizer, out, step + 1)
            saved = time.monotonic()


def _save(learner: Learner, optimizer: torch.optim.Optimizer, out: Path, step: int) -> None:
    state = {"step": step, "parts": dict(learner.parts), "optimizer": optimizer.state_dict()}
    torch.save(state, out / "state.tmp")
    (out / "state.tmp").replace(out / STATE)  # a kill leaves the old one or the new one
    save_lora(out / BEST, learner.parts, learner.rank, NAME, torch.bfloat16)


def train(data: Path, out: Path, steps: int, seed: int, show: Show | None) -> None:
    """A run of ``marginalia train --mixture requests``, gone on with where ``out`` holds one.

    ``out/best`` is the difference as it is after the last step (it has no best: its rate goes down
    to the end), with a card that knows no calibration yet; ``out/loss.svg`` the chart.

    Raises:
        GeneratorError: the base model is not installed.
    """
    path = base_file()
    if path is None:
        raise GeneratorError(f"the base model is not installed; to get it: {INSTALL}")
    draw = mixture(data)
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    learner = Learner(BaseModel(path), compiled=shutil.which("g++") is not None)
    held = held_out(learner, data, 96)
    before, history = _logged(out)
    began = time.monotonic()

    def tell(told: Told) -> None:
        seconds = before + time.monotonic() - began
        row = {**asdict(told), "seconds": round(seconds, 1)}
        with (out / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        _remember(history, row)
        if show is not None:
            share = told.step / steps
            at = Progress(told.step, seconds)
            show(position(at, share, told.loss, history, "requests"))

    fit(learner, draw, held, out, steps, seed, tell)
    card = {"base": NAME, "tasks": ["cra"], "calibration": None, "steps": steps, "seed": seed}
    (out / BEST / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / LOSS_PLOT).write_text(history.chart(), encoding="utf-8")


def _logged(out: Path) -> tuple[float, History]:
    """Seconds and losses of the steps that the state knows of; what came after is done again."""
    history, seconds = History(), 0.0
    if (out / STATE).exists() and (out / LOG).exists():
        last = torch.load(out / STATE, weights_only=True)["step"]
        rows = [json.loads(line) for line in (out / LOG).read_text(encoding="utf-8").splitlines()]
        for row in rows:
            if row["step"] <= last:
                _remember(history, row)
                seconds = row["seconds"]
    return seconds, history


def _remember(history: History, row: Mapping[str, Any]) -> None:
    minutes = row["seconds"] / 60
    history.training.append((minutes, row["loss"]))
    if row.get("held"):
        history.validation.append((minutes, sum(row["held"].values())))
