"""Precision by coverage of a checkpoint on held repositories: table, plot and AUC.

    MARGINALIA_DATA=... python -m tests.bench.coverage [--model FOLDER] [--count N] [--write]

Held are whole repositories (``models.training.splits.TEST``). ``edits``: as many revised as
unrevised windows, the latter weighted to 9 for each of the former; edits of versions, dates,
licences and lock files are left out. ``pr_reviews``: the lines under a suggestion block, with the
comment's prose, all of them revised. ``--write`` puts the table into the checkpoint's card and the
plot beside it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from models.benchmark.coverage import Spoken, plot, speak, table
from models.generators.t5_edits import T5EditGenerator
from models.systems.shipped import DEFAULT_FOLDER
from models.training.card import COVERAGE_PLOT, write_card
from models.training.evaluate import held_sets


def main() -> None:
    """Print the table; write card and plot where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    generator = T5EditGenerator(options.model)
    held = held_sets(Path(os.environ["MARGINALIA_DATA"]), "test", options.count)
    names = {
        "edits (CRB)": "edits, 9 unrevised to 1",
        "pr_reviews suggestions": "suggestion blocks",
    }
    spoken: dict[str, list[Spoken]] = {
        name: speak(generator, held[key]) for key, name in names.items()
    }
    made = table(spoken)
    print(f"{generator.name}\n\n{made}")
    if options.write:
        card = json.loads((options.model / "marginalia.json").read_text(encoding="utf-8"))
        card["coverage"] = made
        (options.model / COVERAGE_PLOT).write_text(plot(spoken), encoding="utf-8")
        write_card(options.model, card)


if __name__ == "__main__":
    main()
