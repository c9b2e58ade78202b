"""Exact match and Edit Progress of the shipped models by what a wrong token is taken to cost.

    python -m tests.bench.abstracted_choice [--part held|valid] [--count N] [--model FOLDER]...

``held`` is every 33rd record of ``trans_review/train``, on which ``STAKES`` of
``models.systems.shipped`` rests; ``valid`` is the published split. The first row gives always the
most probable answer; in the others one that does not parse is passed over. ``MARGINALIA_DATA``
names the data sets' folder.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from models.metrics.edit_progress import token_distance
from models.systems.decision import Stakes, choose
from models.systems.shipped import STAKES, ShippedSystem
from models.systems.soundness import parses_like
from models.tasks import Example, Task
from models.training.abstracted import Reviews

ASTRAY = (0.5, 0.7, 0.85, 1.0)
TOKEN = (0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("held", "valid"), default="held")
    parser.add_argument("--count", type=int, default=417)
    parser.add_argument(
        "--model", type=Path, action="append", help="checkpoints in place of the shipped ones"
    )
    options = parser.parse_args()
    rows = Reviews(Path(os.environ["MARGINALIA_DATA"]), options.part).rows
    random.Random(1).shuffle(rows)
    rows = rows[: options.count]
    for task in (Task.CRA, Task.CRB):
        system = ShippedSystem(task)
        models = [
            model
            for folder in options.model or (None,)
            for model in ShippedSystem(task, folder).generators(abstracted=True)
        ]
        if task is Task.CRA:
            names = ", ".join(model.name for model in models)
            print(f"trans_review/{options.part}, {len(rows)} methods, {names}")
        examples = [
            Example(
                str(place), row["code"], row["marked_code"], comment=row["comment"], abstracted=True
            )
            for place, row in enumerate(rows)
        ]
        found = [choices for choices, _ in system.choices(examples, models)]
        sources = [row["code"] for row in rows]
        targets = [row["revised"] for row in rows]
        sound = [lru_cache(maxsize=None)(parses_like(example)) for example in examples]
        first = [0 if choices else None for choices in found]
        print(f"{task.value}: the most probable: {_measured(sources, targets, found, first)}")
        tried = [Stakes(token, astray) for astray in ASTRAY for token in TOKEN]
        for stakes in dict.fromkeys([*tried, STAKES[task]]):
            given = [
                choose(source, choices, stakes, test)
                for source, choices, test in zip(sources, found, sound, strict=True)
            ]
            used = " (used)" if stakes == STAKES[task] else ""
            print(
                f"{task.value}: a token {stakes.token}, astray {stakes.astray}: "
                f"{_measured(sources, targets, found, given)}{used}"
            )


def _measured(
    sources: Sequence[str],
    targets: Sequence[str],
    found: Sequence[Sequence[tuple[float, str]]],
    given: Sequence[int | None],
) -> str:
    exact = left = whole = 0
    for source, target, choices, place in zip(sources, targets, found, given, strict=True):
        text = source if place is None else choices[place][1]
        distance = token_distance(text, target)
        exact += distance == 0
        left += distance
        whole += token_distance(source, target)
    return (
        f"exact match {100 * exact / len(sources):.1f} %, "
        f"aggregate Edit Progress {1 - left / whole:+.3f}"
    )


if __name__ == "__main__":
    main()
