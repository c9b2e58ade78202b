"""Tokens a second of the serving path against transformers' ``generate``, in one run.

    MARGINALIA_DATA=... python -m tests.bench.serving [--count N] [--repeat N] [--model FOLDER]

Real windows of held repositories (``edits`` with the commit's message, and suggestion blocks of
``pr_reviews``) are revised by the shipped model in float32 on one thread, by both, greedily and by
five beams, one window at a time and eight. Neither may answer ``<none>`` (a token that
``generate`` suppresses at no cost), so that all answers are edits; else both decode freely, and the
best answer is asked for. The repetitions of the two take turns and each one's least processor time
counts, which other programs disturb less than the clock's. Tokens are those of transformers'
answers for both. Then, ours alone, what serving does on top: the rule of well-formed edits,
greedily, with drafts copied from the window and without them.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import T5ForConditionalGeneration

from models.generators.drafts import greedy_search
from models.generators.rules import EditRule
from models.generators.search import Anything, Found, Ranking, beam_search
from models.generators.t5_edits import DRAFT, MAX_ANSWER, T5EditGenerator
from models.systems.shipped import DEFAULT_FOLDER
from models.training.evaluate import held_sets
from models.training.examples import Example

BATCHES = (1, 8)
Answers = list[tuple[int, ...]]


def windows(data: Path, count: int) -> list[Example]:
    """Held windows with a comment, in a shuffled order."""
    sets = held_sets(data, "validation", 2 * count)
    rows = [
        *sets["edits, commit message as comment (CRA)"][: 3 * count // 4],
        *sets["pr_reviews suggestions"][: count - 3 * count // 4],
    ]
    random.Random(1).shuffle(rows)
    return rows


class Ours:
    """The serving path."""

    def __init__(self, folder: Path) -> None:
        self.generator = T5EditGenerator(folder)
        codec = self.generator.codec
        self.end, self.nothing = codec.end, codec.none
        self.free = torch.ones(self.generator._decoder.output.shape[1], dtype=torch.bool).numpy()
        self.free[[self.end, self.nothing]] = False

    def source(self, example: Example) -> list[int]:
        return self.generator.codec.source(
            example.task, example.language, example.lines, example.changed, example.comment
        )

    def answers(self, rows: Sequence[Sequence[int]], batch: int, beams: int) -> Answers:
        """The best answer to each, decoded freely."""
        result: Answers = []
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            steps = self.generator._decoder.begin(self.generator._encoder.encode(some))
            found, _ = beam_search(
                steps, [Anything(self.end)] * len(some), self.free,
                Ranking(beams, 1, MAX_ANSWER, cut=True), start=0, end=self.end,
            )  # fmt: skip
            result += [one[0].ids for one in found]
        return result

    def edits(
        self, rows: Sequence[Sequence[int]], examples: Sequence[Example], batch: int, draft: int
    ) -> tuple[list[list[Found]], int]:
        """Well-formed edits, greedily, and the passes through the decoder."""
        result: list[list[Found]] = []
        passes = 0
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            found, _, count = greedy_search(
                self.generator._decoder.begin(self.generator._encoder.encode(some)),
                [EditRule(self.generator.codec, e.lines) for e in examples[start : start + batch]],
                self.generator._plain, start=0, end=self.end, longest=MAX_ANSWER, draft=draft,
            )  # fmt: skip
            result += found
            passes += count
        return result, passes


class Theirs:
    """``generate`` of transformers."""

    def __init__(self, folder: Path, end: int, nothing: int, pad: int) -> None:
        self.model = T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
        self.end, self.nothing, self.pad = end, nothing, pad

    def answers(self, rows: Sequence[Sequence[int]], batch: int, beams: int) -> Answers:
        result: Answers = []
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            width = max(map(len, some))
            ids = torch.tensor([[*row, *[self.pad] * (width - len(row))] for row in some])
            options: dict[str, Any] = {"length_penalty": 0.0} if beams > 1 else {}
            with torch.inference_mode():
                made = self.model.generate(
                    input_ids=ids, attention_mask=ids.ne(self.pad), do_sample=False,
                    num_beams=beams, max_new_tokens=MAX_ANSWER, suppress_tokens=[self.nothing],
                    **options,
                )  # fmt: skip
            for row in made[:, 1:].tolist():
                body = row[: row.index(self.end) + 1] if self.end in row else row
                result.append(tuple(body))
        return result


def in_turns(ways: Sequence[Callable[[], Any]], repeat: int) -> tuple[list[Any], list[float]]:
    """Each way's result, and the least processor seconds of its repetitions, which take turns."""
    results = [way() for way in ways]
    least = [math.inf] * len(ways)
    for _ in range(repeat):
        for place, way in enumerate(ways):
            began = time.process_time()
            way()
            least[place] = min(least[place], time.process_time() - began)
    return results, least


def asked(description: str | None) -> argparse.Namespace:
    """What the command line says: ``count`` windows, ``repeat`` times, ``model``'s folder."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--model", type=Path, default=DEFAULT_FOLDER)
    return parser.parse_args()


def main() -> None:
    """Print the rows and the mean ratio."""
    options = asked(__doc__)
    torch.set_num_threads(1)
    examples = windows(Path(os.environ["MARGINALIA_DATA"]), options.count)
    ours = Ours(options.model)
    theirs = Theirs(options.model, ours.end, ours.nothing, ours.generator.codec.pad)
    rows = [ours.source(example) for example in examples]
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    rows, examples = [rows[i] for i in order], [examples[i] for i in order]
    size = sum(weight.numel() for weight in theirs.model.parameters()) / 1e6
    print(
        f"{ours.generator.name}, {size:.1f}M parameters, {len(rows)} windows of "
        f"{sum(map(len, rows)) / len(rows):.0f} tokens, one thread, float32"
    )
    ratios: list[float] = []
    for beams in (1, 5):
        for batch in BATCHES:
            (mine, other), (fast, slow) = in_turns(
                [
                    lambda b=batch, k=beams: ours.answers(rows, b, k),
                    lambda b=batch, k=beams: theirs.answers(rows, b, k),
                ],
                options.repeat,
            )
            tokens = sum(map(len, other))
            same = sum(a == b for a, b in zip(mine, other, strict=True)) / len(rows)
            ratios.append(slow / fast)
            print(
                f"{'greedy' if beams == 1 else f'beam {beams}'}, batch {batch}: ours "
                f"{tokens / fast:.0f} tokens/s, transformers {tokens / slow:.0f}, ratio "
                f"{ratios[-1]:.2f}; identical answers {100 * same:.1f} %"
            )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of the ratios: {mean:.2f}")
    gains: list[float] = []
    for batch in BATCHES:
        (drafted, plainly), (fast, slow) = in_turns(
            [
                lambda b=batch: ours.edits(rows, examples, b, DRAFT),
                lambda b=batch: ours.edits(rows, examples, b, 0),
            ],
            options.repeat,
        )
        same = sum(
            [a.ids for a in one] == [b.ids for b in two]
            for one, two in zip(drafted[0], plainly[0], strict=True)
        )
        tokens = sum(len(a.ids) for one in plainly[0] for a in one)
        gains.append(slow / fast)
        print(
            f"well-formed edits, greedy, batch {batch}: with drafts {tokens / fast:.0f} tokens/s "
            f"in {drafted[1]} passes, without {tokens / slow:.0f} in {plainly[1]}, ratio "
            f"{gains[-1]:.2f}; identical answers {100 * same / len(rows):.1f} %"
        )
    print(f"geometric mean of the drafts' gain: {math.sqrt(math.prod(gains)):.2f}")


if __name__ == "__main__":
    main()
