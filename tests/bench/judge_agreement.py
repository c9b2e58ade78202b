"""The agreement of the shipped judge with people, as a Markdown table.

``python -m tests.bench.judge_agreement [FILE]`` reads the study in MARGINALIA_DATA, or
rows {"diff", "review", "human"[, "claims", "system", "lang"]} of a file that the judge has not
seen. The shipped weights were fitted on all of the study, so its plain numbers are not honest
ones: without FILE the table is refitted on the development diffs and shows the last look only.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from models.crscore import CRScore
from models.crscore.agreement import bootstrap, bootstrap_gain, spearman
from models.crscore.encoder import SentenceEncoder
from models.crscore.fit_judge import Table, prepare
from models.crscore.judge import Judge
from models.crscore.judge_card import check_head, rel_of, split
from models.crscore.rows import open_lines, read_rows, score_rows
from models.crscore.study import read_study
from models.crscore.tables import Fields, agreement_table
from models.crscore.weights import HEADS


def fresh(path: str, human: str, samples: int) -> None:
    """The shipped judge on rows of a file."""
    encoder = SentenceEncoder()
    with open_lines(path, "rb", sys.stdin.buffer) as lines:
        scored = score_rows(read_rows(lines, path), CRScore(encoder), Judge(encoder))
        print(agreement_table(list(scored), Fields(human), samples))


def last_look(samples: int) -> None:
    """A judge fitted on the development diffs, on the diffs that were left out."""
    encoder = SentenceEncoder()
    study = read_study(Path(os.environ["MARGINALIA_DATA"]))
    weights = Judge(encoder).weights
    table = Table(encoder, weights.background, weights.lengths)
    development, held = split(prepare(table, study, 0))
    scorer = CRScore(encoder)
    print("| rows | head | judge | without `msg` | CRScore Rel | gain |")
    print("|---|---|---|---|---|---|")
    for name in HEADS:
        check = check_head(name, table.names, development, held)
        for title, part, scores in (
            ("development, by diff", development, check.by_diff),
            ("development, system left out", development, check.by_system),
            ("last look", held, check.held),
        ):
            people = part.study.human[:, 0]
            diffs = part.study.diffs
            rel = rel_of(scorer, part.study.rows, name)
            keep = np.array(part.study.systems) != "msg"
            print(
                f"| {title} | {name} | {bootstrap(spearman, scores, people, diffs, samples)} "
                f"| {spearman(scores[keep], people[keep]):.3f} "
                f"| {bootstrap(spearman, rel, people, diffs, samples)} "
                f"| {bootstrap_gain(scores, rel, people, diffs, samples)} |"
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default="")
    parser.add_argument("--human", default="human")
    parser.add_argument("--samples", type=int, default=1000)
    given = parser.parse_args()
    if given.file:
        fresh(given.file, given.human, given.samples)
    else:
        last_look(given.samples)


if __name__ == "__main__":
    main()
