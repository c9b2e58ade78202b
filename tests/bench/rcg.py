"""Comments of the shipped model against a constant comment and retrieval, on held projects.

    MARGINALIA_DATA=... python -m tests.bench.rcg [--count N] [--k K] [--write]

The data are ``pr_reviews/python``, apart by project: the constant comments and the retrieval index
are made from the projects that training may use, and the hunks asked about are drawn from those of
``models.training.splits.TEST``. Comments that hold a suggestion block, a link or a quote are left
out, as in training. Printed are exact match, sacrebleu's corpus BLEU of the first comment, and the
judge's probability that a person finds the best of K comments relevant. ``--write`` puts the
results where ``marginalia bench table`` finds them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from dataclasses import replace
from pathlib import Path

from models.benchmark.datasets import read_examples
from models.benchmark.remarks import best_of
from models.benchmark.run import run_system, shipped_results
from models.crscore.judge import Judge
from models.systems import make_system
from models.tasks import Example, Task
from models.training.examples import plain_reply
from models.training.splits import part_of

DATA = "pr_reviews, held projects"


def remarks(data: Path, part: str) -> list[Example]:
    """The plain comments of a part's projects."""
    rows = read_examples(data / "pr_reviews" / "python.jsonl.gz")
    kept: list[Example] = []
    for row in rows:
        reply = plain_reply(row.comment or "") if row.revised is None else None
        if reply is not None and part_of(row.project) == part:
            kept.append(replace(row, comment=reply, language="python"))
    return kept


def main() -> None:
    """Print a row a system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data = Path(os.environ["MARGINALIA_DATA"])
    train, held = remarks(data, "train"), remarks(data, "test")
    random.Random(2).shuffle(held)
    held = held[: options.count]
    print(f"{len(train)} comments to learn from, {len(held)} hunks asked about")
    judge = Judge()
    for name in ("constant", "retrieval", "default"):
        system = make_system(name)
        if name == "default":
            system.task = Task.RCG
        else:
            system.fit(Task.RCG, train)
        result, answers = run_system(system, Task.RCG, held, DATA, name, beams=options.k)
        mean = best_of(judge.probabilities, held, answers, options.k)
        judged = {"k": options.k, "mean": mean}
        result = replace(result, metrics={**result.metrics, "judge_best_of": judged})
        print(
            f"{name}: exact match {100 * result.metrics['exact_match']:.1f} %, BLEU "
            f"{100 * result.metrics['bleu']:.2f}, judge's mean of the best of {options.k} "
            f"{mean:.3f}; first: {answers[0].text[:80]!r}",
            flush=True,
        )
        if options.write:
            path = shipped_results() / f"{name}-rcg-pr_reviews.json"
            path.write_text(json.dumps(result.as_json(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
