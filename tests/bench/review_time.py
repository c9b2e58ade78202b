"""A whole review of the example change, by our decoder and by transformers', in one run.

    python -m tests.bench.review_time [--turns N] [--model FOLDER]

The change is the one that ``make review`` shows. It is reviewed by the shipped model as it is
served ("after"), and by the same weights, searches and rules over transformers' own encoder and
decoder with its cache, called step by step as ``generate`` calls them, whose searches know nothing
of well-formed edits ("before"). All else (analyzers, claims, scores, gate) is the same code. Both
are loaded and warm; then they take turns, each of which begins with no remembered sentence vectors.
Printed are the medians of a review's seconds by the clock and of the processor (the analyzers'
processes with it, which other programs disturb less), of the clock's those that the model takes,
the ratios, and whether both reviews hold the same candidates. One thread, unless OMP_NUM_THREADS
says otherwise.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import DynamicCache, EncoderDecoderCache, T5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput

from bot.diff import GitRepository
from bot.review.pipeline import ReviewPipeline
from bot.review.types import ReviewOptions, ReviewResult, Sources
from models.change import Change
from models.crscore import CRScore
from models.generators.search import Floats, Ints
from models.generators.t5_edits import T5EditGenerator
from models.systems.shipped import DEFAULT_FOLDER
from tests.example import make_example


@dataclass(frozen=True, slots=True)
class Padded:
    """What transformers' encoder made of windows (windows x tokens x width), and its mask."""

    hidden: torch.Tensor
    mask: torch.Tensor


class TheirEncoder:
    """In the place of ``T5Encoder``."""

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        self.model = model

    @torch.inference_mode()
    def encode(self, rows: Sequence[Sequence[int]]) -> Padded:
        """Encode windows, each a sequence of token ids of its own length."""
        pad, width = int(self.model.config.pad_token_id), max(map(len, rows))
        ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        hidden = self.model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return Padded(hidden, mask)


class TheirDecoder:
    """In the place of ``T5Decoder``."""

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        self.model = model

    def begin(self, encoded: Padded) -> TheirSteps:
        """A search over some windows."""
        return TheirSteps(self.model, encoded)


class TheirSteps:
    """``models.generators.search.Steps`` over transformers' model, with its cache of keys and
    values, whose rows are put in order as its own beam search does."""

    def __init__(self, model: T5ForConditionalGeneration, encoded: Padded) -> None:
        self.model = model
        self.hidden, self.mask = encoded.hidden, encoded.mask
        self.rows = 1
        self.cache = EncoderDecoderCache(DynamicCache(), DynamicCache())

    @torch.inference_mode()
    def step(self, tokens: Ints, parents: Ints) -> Floats:
        """See ``Steps``."""
        windows, rows = tokens.shape
        before = torch.arange(windows)[:, None] * self.rows + torch.from_numpy(parents)
        if self.cache.get_seq_length():
            self._select(before.flatten())
        self.rows = rows
        made: Any = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self.hidden),
            attention_mask=self.mask,
            decoder_input_ids=torch.from_numpy(tokens).reshape(-1, 1),
            cache=self.cache,
            use_cache=True,
        )
        logits: Floats = made.logits[:, -1].reshape(windows, rows, -1).numpy()
        return logits

    @torch.inference_mode()
    def keep(self, windows: Sequence[int]) -> None:
        """See ``Steps``."""
        chosen = torch.tensor(windows)[:, None] * self.rows + torch.arange(self.rows)
        self._select(chosen.flatten())

    def _select(self, rows: torch.Tensor) -> None:
        self.cache.batch_select_indices(rows)
        self.hidden, self.mask = self.hidden[rows], self.mask[rows]


def theirs(folder: Path) -> T5EditGenerator:
    """The generator with transformers' model in place of our arrays."""
    generator: Any = T5EditGenerator(folder)
    model = T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    generator._encoder, generator._decoder = TheirEncoder(model), TheirDecoder(model)
    made: T5EditGenerator = generator
    return made


@dataclass(frozen=True, slots=True)
class Turn:
    """One review: seconds by the clock, of the processor, of the model, and what it found."""

    whole: float
    processor: float
    model: float
    result: ReviewResult


def processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def take_turn(pipeline: ReviewPipeline, change: Change, sources: Sources) -> Turn:
    """Review once, with no sentence vectors of earlier turns."""
    encoder: Any = pipeline.score.encoder
    encoder.forget()
    began, used = time.perf_counter(), processor_seconds()
    result = pipeline.review(change, sources, ReviewOptions())
    return Turn(
        time.perf_counter() - began, processor_seconds() - used, result.timings["model"], result
    )


def candidates(turn: Turn) -> list[str]:
    """What was found, each with its verdict."""
    return sorted(
        f"{one.candidate.path}:{one.candidate.start_line}-{one.candidate.line} "
        f"{one.candidate.text} {one.candidate.replacement} {one.verdict.posted}"
        for one in turn.result.candidates
    )


def main() -> None:
    """Print the seconds and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--model", type=Path, default=DEFAULT_FOLDER)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    score = CRScore()
    pipelines = {
        "before": ReviewPipeline(score=score, generator=theirs(options.model)),
        "after": ReviewPipeline(score=score, generator=T5EditGenerator(options.model)),
    }
    turns: dict[str, list[Turn]] = {name: [] for name in pipelines}
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top, "example")
        make_example(folder)
        with GitRepository(folder) as repository:
            change = repository.change("main..change")
            sources = repository.sources(change)
            for pipeline in pipelines.values():  # the first loads the encoder and the judge
                take_turn(pipeline, change, sources)
            for _ in range(options.turns):
                for name, pipeline in pipelines.items():
                    turns[name].append(take_turn(pipeline, change, sources))
    parts: dict[str, Callable[[Turn], float]] = {
        "by the clock": lambda turn: turn.whole,
        "of the processor": lambda turn: turn.processor,
        "of the model": lambda turn: turn.model,
    }
    for part, seconds in parts.items():
        before, after = (sorted(map(seconds, turns[name])) for name in ("before", "after"))
        first, second = statistics.median(before), statistics.median(after)
        print(
            f"seconds {part}: before {first:.2f} ({before[0]:.2f} to {before[-1]:.2f}), after "
            f"{second:.2f} ({after[0]:.2f} to {after[-1]:.2f}), ratio {first / second:.2f}; "
            f"medians of {len(before)} turns"
        )
    same = candidates(turns["before"][-1]) == candidates(turns["after"][-1])
    count = len(turns["after"][-1].result.candidates)
    print(f"{count} candidates, {'the same' if same else 'NOT the same'} in both")


if __name__ == "__main__":
    main()
