"""The labelled reviews that the judge is fitted on, their folds, and texts made from them.

A fifth of the diffs, chosen by hash, is left out of every choice and looked at once.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.crscore.attacks import attacks_on
from models.crscore.change_text import read_change
from models.crscore.features import Row
from models.crscore.judge import row_of
from models.crscore.kernel import Matrix

SWAPS = 5
"""Other diffs that a review is set against."""


@dataclass(slots=True)
class Study:
    """The labelled rows: parallel lists; ``human`` has columns rel, con, comp."""

    rows: list[Row]
    diffs: list[int]
    systems: list[str]
    languages: list[str]
    human: Matrix

    def take(self, keep: npt.NDArray[np.bool_]) -> Study:
        """The rows where ``keep`` is true."""
        where = np.flatnonzero(keep)
        return Study(
            [self.rows[i] for i in where],
            [self.diffs[i] for i in where],
            [self.systems[i] for i in where],
            [self.languages[i] for i in where],
            self.human[where],
        )


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a gzipped JSON lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        for line in handle:
            yield json.loads(line)


def read_study(data: Path) -> Study:
    """All scored reviews of the study, with the authors' claims and ours."""
    references = {row["index"]: row for row in read_lines(data / "crscore/pseudo_refs.jsonl.gz")}
    own = {index: row_of(row["diff"], "").own for index, row in references.items()}
    study = Study([], [], [], [], np.zeros((0, 3)))
    human = []
    for record in read_lines(data / "crscore/annotations.jsonl.gz"):
        if record["rel"] is None:
            continue
        change = references[record["index"]]
        given = tuple(change["auto_refs"])
        study.rows.append(Row(change["diff"], record["review"], own[record["index"]], given))
        study.diffs.append(record["index"])
        study.systems.append(record["system"])
        study.languages.append(record["lang"])
        human.append([record["rel"], record["con"], record["comp"]])
    study.human = np.array(human, dtype=np.float64)
    return study


def share_of(index: int, name: str) -> int:
    """Which fifth a diff belongs to, by hash: fixed before anything was looked at."""
    return int(hashlib.sha256(f"{name}-{index}".encode()).hexdigest(), 16) % 5


def is_held(index: int) -> bool:
    """Whether a diff is of the fifth that is kept for one last look."""
    return share_of(index, "marginalia-judge") == 0


def fold_of(index: int) -> int:
    """The diff's fold for cross-validation."""
    return share_of(index, "fold")


def attack_rows(
    study: Study, seed: int, kinds: Sequence[str] = ()
) -> tuple[list[Row], list[int], list[str]]:
    """Attacks on every diff of a study: rows, the diff of each, its kind.

    Foreign good reviews come from diffs of the same fold, so that no fold's texts teach another.
    """
    first = dict(zip(study.diffs, study.rows, strict=True))
    good: dict[int, list[str]] = {diff: [] for diff in first}
    for diff, row, human in zip(study.diffs, study.rows, study.human, strict=True):
        if human[0] >= 3:
            good[diff].append(row.review)
    rows, diffs, names = [], [], []
    for diff, row in first.items():
        elsewhere = [
            text
            for other in good
            if other != diff and fold_of(other) == fold_of(diff)
            for text in good[other]
        ]
        for attack in attacks_on(
            read_change(row.diff), elsewhere, seed * 100_003 + diff, good[diff]
        ):
            if not kinds or attack.kind in kinds:
                rows.append(Row(row.diff, attack.text, row.own, row.references))
                diffs.append(diff)
                names.append(attack.kind)
    return rows, diffs, names


def swapped_rows(study: Study, seed: int) -> tuple[list[Row], list[int], list[str]]:
    """Reviews that people found of some use, set against other diffs: rows, the diff and the
    system that each came from.

    A diff is of the review's language, of its fold, and held out where the review's is.
    """
    pick = random.Random(seed)  # noqa: S311
    first = dict(zip(study.diffs, study.rows, strict=True))
    language = dict(zip(study.diffs, study.languages, strict=True))

    def part(diff: int) -> tuple[str, int, bool]:
        return language[diff], fold_of(diff), is_held(diff)

    rows, diffs, systems = [], [], []
    for i, (diff, row) in enumerate(zip(study.diffs, study.rows, strict=True)):
        if not row.review.strip() or study.human[i, 0] == 1:
            continue
        others = [other for other in first if other != diff and part(other) == part(diff)]
        for target in pick.sample(others, min(SWAPS, len(others))):
            there = first[target]
            rows.append(Row(there.diff, row.review, there.own, there.references))
            diffs.append(diff)
            systems.append(study.systems[i])
    return rows, diffs, systems
