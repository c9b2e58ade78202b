"""Exact match and Edit Progress of the shipped models by what a wrong token is taken to cost.

    python -m tests.bench.abstracted_choice [--part held|valid] [--count N] [--model FOLDER]...

``held`` is every 33rd record of ``trans_review/train``, on which ``STAKES`` of
``models.systems.shipped`` rests; ``valid`` is the published split. The first row gives always the
most probable answer; in the others one that does not parse is passed over. With a comment the
shipped models' answers are also weighed by how well they explain it, to several powers (0: not).
``MARGINALIA_DATA`` names the data sets' folder.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from models.metrics.edit_progress import token_distance
from models.systems.decision import Stakes, choose
from models.systems.explaining import Choices, weighed
from models.systems.shipped import EXPLAINED, STAKES, ShippedSystem
from models.systems.soundness import parses_like
from models.tasks import Example, Task
from models.training.abstracted import Reviews
from models.training.records import Record

ASTRAY = (0.5, 0.7, 0.85, 1.0)
POWERS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
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
        sound = [lru_cache(maxsize=None)(parses_like(example)) for example in examples]
        shown = _Shown(task, rows, found, sound)
        if task is Task.CRA and not options.model:
            logs = system.comment_logs(examples, found)
            for power in dict.fromkeys([*POWERS, EXPLAINED]):
                shown.found = [weighed(*one, power) for one in zip(found, logs, strict=True)]
                shown.row(STAKES[task], f"the comment's power {power}", power == EXPLAINED)
            shown.found = [weighed(*one, EXPLAINED) for one in zip(found, logs, strict=True)]
        shown.row(None, "the most probable")
        tried = [Stakes(token, astray) for astray in ASTRAY for token in TOKEN]
        for stakes in dict.fromkeys([*tried, STAKES[task]]):
            words = f"a token {stakes.token}, astray {stakes.astray}"
            shown.row(stakes, words, stakes == STAKES[task])


@dataclass
class _Shown:
    """The candidates of each method, and what comes of choosing among them."""

    task: Task
    rows: Sequence[Record]
    found: Sequence[Choices]
    sound: Sequence[Callable[[str], bool]]

    def row(self, stakes: Stakes | None, words: str, used: bool = False) -> None:
        """Print a row of what is chosen by these stakes; ``None``: always the most probable."""
        sources = [row["code"] for row in self.rows]
        given = [
            (0 if choices else None) if stakes is None else choose(source, choices, stakes, test)
            for source, choices, test in zip(sources, self.found, self.sound, strict=True)
        ]
        targets = [row["revised"] for row in self.rows]
        measured = _measured(sources, targets, self.found, given)
        mark = " (used)" if used else ""
        print(f"{self.task.value}: {words}: {measured}{mark}", flush=True)


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
