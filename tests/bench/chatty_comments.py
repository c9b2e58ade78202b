"""Comments that ask for nothing, on Java methods that were revised: how often they are answered.

    MARGINALIA_DATA=... python -m tests.bench.chatty_comments [--count N]

The methods are drawn from ``trans_review/raw_valid``; each has its reviewer's own comment, then a
chatty one in its place (``CHAT``). Printed is the share with an answer at a ``sure`` of .5: on
command, and unasked, where the answer must be ``LIFT`` times as probable as with a word of thanks
(``bot.review.answer``); and how many of these answers are what people wrote, which the marked lines
alone can tell.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bot.review.answer import LIFT, THANKS
from models.benchmark.datasets import read_examples
from models.metrics.base import tokens
from models.systems.method_reviser import CALIBRATION
from models.systems.shipped import ShippedSystem
from models.tasks import Example, Prediction, Task

SURE = 0.5
CHAT = (
    "LGTM",
    "Nice!",
    "Thanks, done",
    "Why is this needed?",
    "Can you add a test for this?",
    "What happens if this is null?",
    "Is this thread safe?",
    "Please add javadoc",
    "I agree",
    "Good catch",
    "Did you run the benchmarks?",
    "See my comment above",
)


def answered(
    system: ShippedSystem, examples: Sequence[Example]
) -> list[tuple[Example, Prediction]]:
    """The examples with an answer that is sure enough."""
    found = list(zip(examples, system.predict(examples), strict=True))
    places, right = np.array(CALIBRATION).T
    return [
        (example, prediction)
        for example, prediction in found
        if prediction.text != example.unmarked()
        and np.interp(prediction.confidence, places, right) >= SURE
    ]


def heeded(
    system: ShippedSystem, some: Sequence[tuple[Example, Prediction]]
) -> list[tuple[Example, Prediction]]:
    """Those whose answer a word of thanks does not lead to as well."""
    kept = []
    for example, prediction in some:
        thanked = system.predict([replace(example, comment=word) for word in THANKS])
        same = [p.confidence for p in thanked if p.text == prediction.text]
        if prediction.confidence >= LIFT * max(same, default=0.0):
            kept.append((example, prediction))
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    options = parser.parse_args()
    file = Path(os.environ["MARGINALIA_DATA"]) / "trans_review" / "raw_valid.jsonl.gz"
    examples = read_examples(file)
    random.Random(4).shuffle(examples)
    examples = examples[: options.count]
    chat = [replace(e, comment=CHAT[i % len(CHAT)]) for i, e in enumerate(examples)]
    system = ShippedSystem(Task.CRA)
    for name, some in (("reviewers' own", examples), ("chatty", chat)):
        asked = answered(system, some)
        for when, kept in (("on command", asked), ("unasked", heeded(system, asked))):
            hits = [tokens(p.text) == tokens(e.revised or "") for e, p in kept]
            share = f", {100 * sum(hits) / len(hits):.0f} % of them exact" if hits else ""
            print(
                f"{name}, {when}: {100 * len(kept) / len(some):.1f} % answered{share}", flush=True
            )


if __name__ == "__main__":
    main()
