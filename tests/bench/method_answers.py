"""Reviewers' comments on whole Java methods answered by the shipped models: how often exactly so.

    MARGINALIA_DATA=... python -m tests.bench.method_answers [--task cra|crb] [--count N] [--write]
    MARGINALIA_DATA=... python -m tests.bench.method_answers --held

The methods are those of ``trans_review/raw_valid`` (raw Java), of which no model that ships was
trained on one. Beside the models of the abstracted dialect, which are asked by way of
``models.systems.java_methods``, stands the default checkpoint asked about the raw text. Printed are
exact match and Edit Progress, and the precision of the surest answers by coverage: with
confidences as they are, and how often an answer is right that the calibration takes for as sure as
this. ``--held`` prints that calibration, from every 33rd record of ``trans_review/train``.
``--write`` puts the row where ``marginalia bench table`` finds it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.benchmark.datasets import read_examples
from models.benchmark.run import Result, shipped_results
from models.metrics.base import tokens
from models.metrics.report import evaluate
from models.systems.method_reviser import CALIBRATION
from models.systems.shipped import DEFAULT_FOLDER, ShippedSystem
from models.tasks import Example, Prediction, Task, records
from models.training.abstracted import Reviews

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
SURE = (0.3, 0.4, 0.5, 0.6, 0.7)
CHUNK = 100


def predicted(system: ShippedSystem, examples: Sequence[Example]) -> list[Prediction]:
    """Predictions in chunks, so that memory stays small."""
    found: list[Prediction] = []
    for start in range(0, len(examples), CHUNK):
        found += system.predict(examples[start : start + CHUNK])
    return found


def right(examples: Sequence[Example], found: Sequence[Prediction]) -> np.ndarray:
    """Which predictions are token by token what people wrote."""
    return np.array(
        [tokens(p.text) == tokens(e.revised or "") for e, p in zip(examples, found, strict=True)]
    )


def told(name: str, task: Task, examples: Sequence[Example], found: Sequence[Prediction]) -> None:
    """Print one system's numbers."""
    metrics, hits = evaluate(records(task, examples, found)), right(examples, found)
    progress = metrics["edit_progress"]
    kept = np.mean([p.text == e.unmarked() for e, p in zip(examples, found, strict=True)])
    print(
        f"{name}: exact match {100 * metrics['exact_match']:.1f} %, Edit Progress "
        f"{progress['mean']:.3f} / {progress['median']:.3f} / {progress['aggregate']:.3f}, "
        f"unchanged {100 * kept:.1f} %"
    )
    confidence = np.array([p.confidence for p in found])
    order = np.argsort(-confidence, kind="stable")
    cells = []
    for share in SHARES:
        count = max(1, round(share * len(found)))
        cells.append(f"{100 * share:g} %: {100 * hits[order[:count]].mean():.0f}")
    print("  precision by coverage: " + ", ".join(cells))
    if CALIBRATION and task is Task.CRA:
        sure = np.interp(confidence, *np.array(CALIBRATION).T)
        for least in SURE:
            chosen = sure >= least
            share = f"{100 * hits[chosen].mean():.0f} %" if chosen.any() else "n/a"
            print(f"  at least {least} sure: {100 * chosen.mean():.1f} % of methods, right {share}")


def calibration(confidence: np.ndarray, hits: np.ndarray, bins: int = 10) -> list[list[float]]:
    """(probability, share right), isotonic, at the means of equally filled bins."""
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(confidence, hits)
    parts = np.array_split(np.sort(confidence), bins)
    places = [0.0, *(float(part.mean()) for part in parts)]
    return [[round(p, 4), round(float(steps.predict([p])[0]), 3)] for p in places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", type=Task, default=Task.CRA)
    parser.add_argument("--count", type=int)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data = Path(os.environ["MARGINALIA_DATA"])
    if options.held:
        examples = [
            Example(
                str(place),
                row["code"],
                row["marked_code"],
                revised=row["revised"],
                comment=row["comment"],
                abstracted=True,
            )
            for place, row in enumerate(Reviews(data, "held").rows)
        ]
    else:
        examples = read_examples(data / "trans_review" / "raw_valid.jsonl.gz")
    random.Random(1).shuffle(examples)
    examples = examples[: options.count]
    began = time.monotonic()
    found = predicted(ShippedSystem(options.task), examples)
    seconds = time.monotonic() - began
    print(f"{options.task}, {len(examples)} methods, {seconds / len(examples):.2f} s each")
    told("abstracted and restored", options.task, examples, found)
    if options.held:
        confidence = np.array([p.confidence for p in found])
        print(calibration(confidence, right(examples, found)))
        return
    if options.write:
        scores = evaluate(records(options.task, examples, found))
        name = f"default-{options.task}-trans_review_raw.json"
        result = Result(
            "default",
            options.task.value,
            "trans_review/raw_valid",
            len(examples),
            scores,
            seconds=round(seconds, 2),
        )
        text = json.dumps(result.as_json(), indent=2) + "\n"
        (shipped_results() / name).write_text(text, encoding="utf-8")
    plain = predicted(ShippedSystem(options.task, DEFAULT_FOLDER), examples)
    told("default checkpoint, raw", options.task, examples, plain)


if __name__ == "__main__":
    main()
