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

from models.generators.base import Window
from models.generators.line_edits import apply_edits
from models.generators.t5_edits import T5EditGenerator
from models.metrics.edit_progress import token_distance
from models.systems.shipped import ABSTRACTED_FOLDER
from models.training.abstracted import Reviews, abstracted_example
from models.training.examples import join

THRESHOLDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("held", "valid"), default="held")
    parser.add_argument("--count", type=int, default=416)
    parser.add_argument("--model", type=Path, default=ABSTRACTED_FOLDER)
    options = parser.parse_args()
    rows = Reviews(Path(os.environ["MARGINALIA_DATA"]), options.part).rows
    random.Random(1).shuffle(rows)
    rows = rows[: options.count]
    generator = T5EditGenerator(options.model)
    print(f"trans_review/{options.part}, {len(rows)} methods, {generator.name}")
    for task in ("cra", "crb"):
        examples = [abstracted_example(row, task) for row in rows]
        kept = [(r, e) for r, e in zip(rows, examples, strict=True) if e is not None]
        windows = [Window(e.language, e.lines, e.changed, comment=e.comment) for _, e in kept]
        answers = generator.revise(windows)
        measured: list[tuple[float, int, int]] = []
        for (row, example), found in zip(kept, answers, strict=True):
            source, target = row["code"], row["revised"]
            before = token_distance(source, target)
            if not found:
                measured.append((-1.0, before, before))
                continue
            written = join(apply_edits(example.lines, found[0].edits))
            measured.append((found[0].probability, before, token_distance(written, target)))
        whole = sum(before for _, before, _ in measured)
        for least in THRESHOLDS:
            left = [after if p >= least else before for p, before, after in measured]
            exact = sum(distance == 0 for distance in left) / len(rows)
            print(
                f"{task} least {least:.2f}: exact match {100 * exact:.1f} %, "
                f"aggregate Edit Progress {1 - sum(left) / whole:.3f}"
            )


if __name__ == "__main__":
    main()
