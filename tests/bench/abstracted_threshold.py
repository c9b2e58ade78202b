"""Exact match and Edit Progress of the shipped model by the least probability of an edit.

    python -m tests.bench.abstracted_threshold [--part held|valid] [--count N] [--model FOLDER]

``held`` is every 33rd record of ``trans_review/train``, on which ``LEAST`` of
``models.systems.shipped`` rests; ``valid`` is the published split. Where an answer is less probable
than the threshold, the code stays as it is. ``MARGINALIA_DATA`` names the data sets' folder.
"""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path

from models.metrics.edit_progress import token_distance
from models.systems.shipped import ShippedSystem
from models.tasks import Example, Task
from models.training.abstracted import Reviews

THRESHOLDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("held", "valid"), default="held")
    parser.add_argument("--count", type=int, default=416)
    parser.add_argument("--model", type=Path, help="one checkpoint in place of the shipped ones")
    options = parser.parse_args()
    rows = Reviews(Path(os.environ["MARGINALIA_DATA"]), options.part).rows
    random.Random(1).shuffle(rows)
    rows = rows[: options.count]
    for task in (Task.CRA, Task.CRB):
        system = ShippedSystem(task, options.model)
        models = system.generators(abstracted=True)
        if task is Task.CRA:
            names = " and ".join(model.name for model in models)
            print(f"trans_review/{options.part}, {len(rows)} methods, {names}")
        examples = [
            Example(
                str(place), row["code"], row["marked_code"], comment=row["comment"], abstracted=True
            )
            for place, row in enumerate(rows)
        ]
        measured: list[tuple[float, int, int]] = []
        for row, (choices, _) in zip(rows, system.choices(examples, models), strict=True):
            before = token_distance(row["code"], row["revised"])
            probability, text = choices[0] if choices else (-1.0, row["code"])
            measured.append((probability, before, token_distance(text, row["revised"])))
        whole = sum(before for _, before, _ in measured)
        for least in THRESHOLDS:
            left = [after if p >= least else before for p, before, after in measured]
            exact = sum(distance == 0 for distance in left) / len(rows)
            print(
                f"{task.value} least {least:.2f}: exact match {100 * exact:.1f} %, "
                f"aggregate Edit Progress {1 - sum(left) / whole:.3f}"
            )


if __name__ == "__main__":
    main()
