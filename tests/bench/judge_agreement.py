"""The agreement of the shipped judge with people, as a Markdown table.

``python -m tests.bench.judge_agreement [FILE]`` reads the study in MARGINALIA_DATA, or
rows {"diff", "review", "human"[, "claims", "system", "lang"]} of a file that the judge has not
seen. The shipped weights were fitted on all of the study, so its plain numbers are not honest
ones: without FILE the judge is refitted on the development diffs, which gives their rows out of
fold and the last look, and then on all diffs, whose rows are out of fold too (by diff, and with a
system or a language left out). Rel is CRScore's of the same rows, with the same references.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from models.crscore import CRScore
from models.crscore.agreement import (
    Numbers,
    bootstrap,
    bootstrap_gain,
    partial_spearman,
    spearman,
    system_agreement,
)
from models.crscore.encoder import SentenceEncoder
from models.crscore.fit_judge import Material, Table, prepare
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


def refitted(samples: int) -> None:
    """A judge fitted on the development diffs, on them and on the rest; then one fitted on all."""
    encoder = SentenceEncoder(dtype="float32")  # as the shipped one is fitted
    study = read_study(Path(os.environ["MARGINALIA_DATA"]))
    weights = Judge(encoder).weights
    table = Table(encoder, weights.background, weights.lengths)
    material = prepare(table, study, 0)
    development, held = split(material)
    scorer = CRScore(encoder)
    print("| rows | head | judge | without `msg` | CRScore Rel | gain | ten systems | length |")
    print("|---|---|---|---|---|---|---|---|")
    for name in HEADS:
        check = check_head(name, table.names, development, held)
        whole = check_head(name, table.names, material, held)
        for title, part, scores in (
            ("development, by diff", development, check.by_diff),
            ("development, system left out", development, check.by_system),
            ("development, system and diff left out", development, check.by_both),
            ("last look", held, check.held),
            ("all, by diff", material, whole.by_diff),
            ("all, system left out", material, whole.by_system),
            ("all, system and diff left out", material, whole.by_both),
            ("all, language left out", material, whole.by_language),
        ):
            print(_row(title, name, part, scores, scorer, samples), flush=True)


def _row(
    title: str,
    head: str,
    part: Material,
    scores: Numbers,
    scorer: CRScore,
    samples: int,
) -> str:
    study = part.study
    people, diffs, systems = study.human[:, 0], study.diffs, study.systems
    length = np.array([len(row.review) for row in study.rows], dtype=np.float64)
    rel = rel_of(scorer, study.rows, head)
    keep = np.array(systems) != "msg"
    return (
        f"| {title} | {head} | {bootstrap(spearman, scores, people, diffs, samples)} "
        f"| {spearman(scores[keep], people[keep]):.3f} "
        f"| {bootstrap(spearman, rel, people, diffs, samples)} "
        f"| {bootstrap_gain(scores, rel, people, diffs, samples)} "
        f"| {system_agreement(scores, people, systems):.3f} "
        f"| {partial_spearman(scores, length, people):.3f} |"
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
        refitted(given.samples)


if __name__ == "__main__":
    main()
