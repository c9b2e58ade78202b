"""Comments on lines of real code answered by SmolLM2 with its difference: how often exactly so.

    MARGINALIA_DATA=... python -m tests.bench.comment_answers [--split validation|test] [--count N]
        [--beams N] [--peer] [--calibrate]

Three sets that nothing was trained on: GitHub's suggestion blocks (held projects), Trans-Review's
comments on methods that are named anew (every 33rd training record), and small commits with
messages that speak of what changed (held projects). The commented lines are known, as they are in
a thread. Printed for each: exact match, Edit Progress, the precision of the surest answers;
``--peer`` asks the default checkpoint the same. ``--calibrate`` prints what an answer's
probability is worth, from what are comments: blocks and reviews together.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.review.worth import Calibration
from models.generators.base import Generator, Window
from models.generators.line_edits import apply_edits
from models.generators.rewriter import BEAMS, Rewriter
from models.metrics.base import Record
from models.training.requests import Asked, Reviews, commits, suggestions
from models.training.splits import Part
from tests.bench.cra_suggestions import COVERAGES, Answered, answers, row

BINS = 8
SURE = 0.5


def held_sets(folder: Path, part: Part, count: int) -> dict[str, list[Asked]]:
    """The sets by name, at most ``count`` of each."""
    rng = random.Random(2)
    reviews = Reviews(folder, held=True)
    rows = reviews.rows[1::2] if part == "test" else reviews.rows[::2]
    named = [asked for asked in (reviews.asked(one, rng) for one in rows) if asked is not None]
    small = commits(folder, part)
    rng.shuffle(small)
    blocks = suggestions(folder, part)
    return {"suggestion blocks": blocks[:count], "reviews": named[:count], "commits": small[:count]}


def answered(generator: Generator, asked: Sequence[Asked]) -> list[Answered]:
    """The likeliest answer to each beside what people wrote."""
    found = []
    for one, answer in zip(asked, answers(generator, [a.window for a in asked]), strict=True):
        source, target = list(one.window.lines), replaced(one.window, one.revised)
        made = source if answer is None else apply_edits(source, answer.edits)
        record = Record("\n".join(source), "\n".join(target), "\n".join(made))
        probability = 0.0 if answer is None else answer.probability
        found.append(Answered(record, probability, answer is not None))
    return found


def replaced(window: Window, revised: Sequence[str]) -> list[str]:
    """The window's lines after the revision."""
    first, end = min(window.changed), max(window.changed) + 1
    return [*window.lines[:first], *revised, *window.lines[end:]]


def calibration(rows: Sequence[Answered]) -> list[tuple[float, float]]:
    """(probability, share right) of bins of as many answers each; a share never falls, and is never
    more than the probability itself: on real blocks the model is surer than it should be."""
    ranked = sorted((one for one in rows if one.spoke), key=lambda one: one.probability)
    parts = np.array_split(np.array([(r.probability, r.right) for r in ranked], float), BINS)
    points = [(0.0, 0.0)]
    for part in parts:
        mean, share = (round(float(value), 4) for value in part.mean(0))
        points.append((mean, max(points[-1][1], min(mean, share))))
    return points


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--split", choices=("validation", "test"), default="test")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--beams", type=int, default=BEAMS)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--show", type=int, default=0, help="print so many answers of each set")
    options = parser.parse_args()
    folder = {} if options.model is None else {"folder": options.model}
    generators: dict[str, Generator] = {"requests": Rewriter(**folder, beams=options.beams)}
    if options.peer:
        from models.generators.t5_edits import T5EditGenerator
        from models.systems.shipped import DEFAULT_FOLDER

        generators["default checkpoint"] = T5EditGenerator(DEFAULT_FOLDER)
    shares = " / ".join(f"{100 * share:g}" for share in COVERAGES)
    print(
        "| comments | by | answers | exact match | Edit Progress: mean / median / aggregate "
        f"| precision at {shares} % coverage | of all answers |\n|---|---|---|---|---|---|---|"
    )
    every: list[Answered] = []
    data = Path(os.environ["MARGINALIA_DATA"])
    for title, asked in held_sets(data, options.split, options.count).items():
        for name, generator in generators.items():
            began = time.monotonic()
            found = answered(generator, asked)
            cost = (time.monotonic() - began) / max(1, len(asked))
            shown = row(name, found)
            print(f"| {title} ({len(asked)}, {cost:.1f} s each) {shown}", flush=True)
            if name == "requests":
                sure = Calibration.from_card(generator.card)
                chosen = [one for one in found if one.spoke and sure(one.probability) >= SURE]
                print(f"at the default sure: {len(chosen)}, right {sum(o.right for o in chosen)}")
            if name == "requests" and title != "commits":
                every += found
            for one, given in list(zip(asked, found, strict=True))[: options.show]:
                print(_shown(one, given))
    if options.calibrate:
        print(calibration(every))
    print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


def _shown(asked: Asked, found: Answered) -> str:
    marked = sorted(asked.window.changed)
    old = "\n".join(f"  - {asked.window.lines[i]}" for i in marked)
    rest = len(asked.window.lines) - marked[-1] - 1
    made = found.record.prediction.split("\n")
    made = made[marked[0] : len(made) - rest]
    lines = [f"\n{asked.window.comment}\n{old}", *(f"  > {line}" for line in made)]
    verdict = "right" if found.right else "not: " + " / ".join(asked.revised)
    return "\n".join([*lines, f"  {found.probability:.2f} {verdict}"])


if __name__ == "__main__":
    main()
