"""Revisions of the shipped model beside copying the code, on what no training saw.

    MARGINALIA_DATA=... python -m tests.bench.held_rows [--count N] [--only SET] [--write]

Three sets: every tenth pair of ``autotransform`` (CRB; the default checkpoint alone is asked, since
the models of abstracted methods were trained on these too), ``edits`` of held repositories (CRB;
hunks that only change versions, dates or licences are left out), and the suggestion blocks of
``pr_reviews`` on held projects (CRA). Prints exact match and Edit Progress (mean, median,
aggregate) over hunks whose revision differs in more than white space; ``--write`` puts the rows
where ``marginalia bench table`` finds them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from models.benchmark.datasets import iter_examples
from models.benchmark.run import run_system, shipped_results
from models.generators.line_edits import LANGUAGES
from models.systems import make_system
from models.systems.shipped import DEFAULT_FOLDER, ShippedSystem
from models.tasks import Example, Task
from models.training.examples import is_boring
from models.training.splits import part_of

Reader = Callable[[Path], Iterable[Example]]


def pairs(data: Path) -> list[Example]:
    """Every tenth of AutoTransform's pairs, which training leaves out."""
    return list(islice(iter_examples(data / "autotransform" / "pairs.jsonl.gz"), 0, None, 10))


def edits(data: Path) -> list[Example]:
    """Edits of held repositories, in every language that the model knows."""
    found: list[Example] = []
    for language in LANGUAGES:
        path = data / "edits" / f"{language}.jsonl.gz"
        rows = iter_examples(path) if path.exists() else iter(())
        for row in rows:
            if part_of(row.project) == "test" and not _boring(row):
                found.append(row)
    return found


def _boring(row: Example) -> bool:
    old, new = row.unmarked().split("\n"), (row.revised or "").split("\n")
    return is_boring([line for line in old if line not in new], [x for x in new if x not in old])


def suggestions(data: Path) -> Iterator[Example]:
    """Comments on held projects whose suggestion block says the revised line."""
    for row in iter_examples(data / "pr_reviews" / "python.jsonl.gz"):
        if row.revised is not None and part_of(row.project) == "test":
            yield row


def main() -> None:
    """Print a row a system and set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="examples of a set at most")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", help="autotransform, edits or suggestions")
    options = parser.parse_args()
    data = Path(os.environ["MARGINALIA_DATA"])
    sets: tuple[tuple[str, str, Task, Reader], ...] = (
        ("autotransform", "autotransform/pairs, every 10th", Task.CRB, pairs),
        ("edits", "edits, held repositories", Task.CRB, edits),
        ("suggestions", "suggestion blocks, held projects", Task.CRA, suggestions),
    )
    for short, label, task, read in sets:
        if options.only not in (None, short):
            continue
        examples = list(read(data))
        # the metrics read tokens: to them a change of white space alone is none
        examples = [e for e in examples if (e.revised or "").split() != e.unmarked().split()]
        if len(examples) > options.count:
            examples = random.Random(1).sample(examples, options.count)
        for name in ("copy", "default"):
            alone = DEFAULT_FOLDER if short == "autotransform" else None
            system = ShippedSystem(task, alone) if name == "default" else make_system(name)
            if name == "copy":
                system.fit(task, examples[:1])  # it learns nothing
            result, _ = run_system(system, task, examples, label, name)
            progress = result.metrics["edit_progress"]
            print(
                f"{label}, {task.value}, {name}: n {result.n}, exact match "
                f"{100 * result.metrics['exact_match']:.1f} %, Edit Progress "
                + ", ".join(f"{100 * progress[k]:.1f}" for k in ("mean", "median", "aggregate")),
                flush=True,
            )
            if options.write:
                path = shipped_results() / f"{name}-{task.value}-{short}.json"
                path.write_text(json.dumps(result.as_json(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
