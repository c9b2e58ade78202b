"""Examples as token ids, and batches of like length.

Padding costs as much as text on a CPU, so a pool of examples is sorted by length and cut into
batches of a bounded number of source tokens; the batches are then shuffled.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from models.generators.line_edits import SAID, EditCodec
from models.training.examples import Example, spans

MAX_SOURCE = 256
MAX_ANSWER = 72
FRUITLESS = 20_000
"""Draws in a row without one example that fits, after which none will come."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of one example."""

    source: list[int]
    answer: list[int]


def encode(
    codec: EditCodec,
    example: Example,
    rng: random.Random,
    longest: tuple[int, int] = (MAX_SOURCE, MAX_ANSWER),
) -> Encoded | None:
    """Ids of an example, or ``None`` where source or answer is longer than ``longest``."""
    if example.task == SAID:
        source = codec.said_source(example.language, example.lines, example.changed, example.edits)
    else:
        source = codec.source(
            example.task,
            example.language,
            example.lines,
            example.changed,
            example.comment,
            removed=example.removed,
        )
    if example.reply is not None:
        answer = [*codec.text_ids([example.reply])[0], codec.end]
    elif example.task == "fill":
        sentinels = [codec.ids[f"<extra_id_{i}>"] for i in range(16)]
        head, body, tail = source[:2], source[2:-1], source[-1:]
        if len(body) < 12:
            return None
        spoiled, answer = spans(body, sentinels, rng)
        source = [*head, *spoiled, *tail]
        answer = [*answer, codec.end]
    else:
        answer = codec.edits(example.edits)
    if len(source) > longest[0] or len(answer) > longest[1]:
        return None
    return Encoded(source, answer)


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded ids: ``source`` and its mask (batch x source), ``labels`` (-100 where padded)."""

    source: torch.Tensor
    mask: torch.Tensor
    labels: torch.Tensor


def pad(rows: Sequence[Encoded], fill: int) -> Batch:
    """One batch of examples."""
    width = max(len(row.source) for row in rows)
    depth = max(len(row.answer) for row in rows)
    source = torch.full((len(rows), width), fill, dtype=torch.long)
    labels = torch.full((len(rows), depth), -100, dtype=torch.long)
    for index, row in enumerate(rows):
        source[index, : len(row.source)] = torch.tensor(row.source)
        labels[index, : len(row.answer)] = torch.tensor(row.answer)
    return Batch(source, source.ne(fill), labels)


def cut_batches(rows: Sequence[Encoded], tokens: int) -> list[list[Encoded]]:
    """Rows sorted by length in groups of at most ``tokens`` padded source tokens."""
    groups: list[list[Encoded]] = []
    for row in sorted(rows, key=lambda row: (len(row.source), len(row.answer))):
        if groups and (len(groups[-1]) + 1) * len(row.source) <= tokens:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def stream(
    codec: EditCodec,
    sources: Sequence[tuple[float, Callable[[random.Random], Any]]],
    seed: int,
    *,
    tokens: int,
    longest: tuple[int, int] = (MAX_SOURCE, MAX_ANSWER),
    pool: int = 1024,
) -> Iterator[Batch]:
    """Batches without end, drawn from the weighted sources; the seed fixes all of them.

    A source gives an ``Example``, ids already ``Encoded``, or ``None`` (nothing, draw again).
    """
    rng = random.Random(seed)  # noqa: S311 - a training order is no secret
    makers = [maker for _, maker in sources]
    weights = [weight for weight, _ in sources]
    while True:
        rows: list[Encoded] = []
        drawn = 0
        while len(rows) < pool:
            drawn += 1
            if drawn > FRUITLESS and not rows:
                raise ValueError(
                    f"no example among {FRUITLESS} is at most {longest[0]} tokens long with an "
                    f"answer of at most {longest[1]}; allow longer ones or give other data"
                )
            example = rng.choices(makers, weights)[0](rng)
            if example is None or isinstance(example, Encoded):
                row = example
            else:
                row = encode(codec, example, rng, longest)
            if row is not None:
                rows.append(row)
        groups = cut_batches(rows, tokens)
        rng.shuffle(groups)
        for group in groups:
            yield pad(group, codec.pad)
