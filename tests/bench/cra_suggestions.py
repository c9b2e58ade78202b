"""CRA on held suggestion blocks: exact match, Edit Progress, precision at coverage.

    MARGINALIA_DATA=... python -m tests.bench.cra_suggestions [--model FOLDER] [--count N] [--write]

The comments of ``pr_reviews`` with a suggestion block on repositories that no training saw
(``models.training.splits.TEST``): the hunk and the comment's prose go in, the block should come
out. Prints Markdown rows for a model's card, the checkpoint's and those of copying the code;
``--write`` puts them there. What a comment spells out is answered without a model
(``tests.bench.spelled_out``).
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.generators.base import Answer, Generator, Window
from models.generators.line_edits import apply_edits
from models.metrics.base import Record
from models.metrics.edit_progress import EditProgress
from models.systems.shipped import DEFAULT_FOLDER
from models.training.card import write_card
from models.training.evaluate import held_sets
from models.training.examples import Example

HELD = "pr_reviews suggestions"
COVERAGES = (0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Answered:
    """The best answer to one comment; without one the code stays as it is."""

    record: Record
    probability: float
    spoke: bool

    @property
    def right(self) -> bool:
        """Whether it is what the reviewer wrote."""
        return self.spoke and self.record.prediction == self.record.target


def main() -> None:
    """Print the rows."""
    from models.generators.t5_edits import T5EditGenerator

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    held = held_sets(Path(os.environ["MARGINALIA_DATA"]), "test", options.count)[HELD]
    windows = [Window(e.language, e.lines, e.changed, comment=e.comment) for e in held]
    model = T5EditGenerator(options.model)
    by_model = answers(model, windows)
    shares = " / ".join(f"{100 * share:g}" for share in COVERAGES)
    lines = [
        f"{len(held)} suggestion blocks of `pr_reviews` on held repositories: the hunk and the "
        "comment's prose go in, the block should come out; per cent. Where there is no answer the "
        "code stays as it is.\n",
        "| by | answers | exact match | Edit Progress: mean / median / aggregate "
        f"| precision at {shares} % coverage | of all answers |",
        "|---|---|---|---|---|---|",
    ]
    nothing: list[Answer | None] = [None] * len(held)
    for title, found in (("checkpoint", by_model), ("copying", nothing)):
        lines.append(row(title, [beside(e, a) for e, a in zip(held, found, strict=True)]))
    made = "\n".join(lines)
    print(f"{model.name}\n\n{made}")
    if options.write:
        card = json.loads((options.model / "marginalia.json").read_text(encoding="utf-8"))
        card["suggestions"] = made
        write_card(options.model, card)


def answers(generator: Generator, windows: Sequence[Window]) -> list[Answer | None]:
    """The most probable revision of each window that changes something."""
    found = []
    for some in generator.revise(windows):
        edits = [one for one in some if one.edits]
        found.append(max(edits, key=lambda one: one.probability, default=None))
    return found


def beside(example: Example, answer: Answer | None) -> Answered:
    """An answer beside what the reviewer wrote."""
    source, target = "\n".join(example.lines), "\n".join(apply_edits(example.lines, example.edits))
    if answer is None:
        return Answered(Record(source, target, source), 0.0, False)
    made = "\n".join(apply_edits(example.lines, answer.edits))
    return Answered(Record(source, target, made), answer.probability, True)


def row(title: str, rows: Sequence[Answered]) -> str:
    """One system's row; per cent."""
    records = [one.record for one in rows]
    # to the character: a suggestion with another indentation is another one
    exact = sum(one.right for one in rows) / len(rows)
    parts = EditProgress().score(records).parts
    progress = " / ".join(f"{100 * (parts[k] or 0.0):.1f}" for k in ("mean", "median", "aggregate"))
    ranked = sorted((one for one in rows if one.spoke), key=lambda one: -one.probability)
    cells = []
    for share in COVERAGES:
        count = max(1, round(share * len(rows)))
        best = ranked[:count]
        # fewer answers than that: nothing is said of a coverage that is never reached
        cells.append(f"{100 * precision(best):.1f}" if len(best) == count else "n/a")
    spoken = f"{100 * precision(ranked):.1f} of {len(ranked)}" if ranked else "n/a"
    answered = f"{100 * len(ranked) / len(rows):.0f} %"
    shown = " / ".join(cells)
    return f"| {title} | {answered} | {100 * exact:.1f} | {progress} | {shown} | {spoken} |"


def precision(rows: Sequence[Answered]) -> float:
    """The share of answers that are right."""
    return sum(one.right for one in rows) / len(rows)


if __name__ == "__main__":
    main()
