"""Fitting the judge on people's scores: ``python -m models.crscore.fit_judge --data DIR``.

Labels come from ``crscore/annotations`` only. ``pr_reviews`` gives unlabelled comments: how rare
a word is, and what typical comments look like. A fifth of the diffs, chosen by hash, is left out
of every choice and looked at once; the shipped weights are then fitted on all diffs. The same
data and seed give the same weights.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.crscore.agreement import Numbers, partial_spearman
from models.crscore.attacks import attacks_on
from models.crscore.change_text import read_change
from models.crscore.encoder import Encoder, SentenceEncoder
from models.crscore.features import Background, Row, columns_of, views_of
from models.crscore.judge import (
    HEADS,
    Head,
    Weights,
    default_folder,
    length_ranks,
    row_of,
    save_weights,
    vectors_of,
)
from models.crscore.kernel import KernelRidge, Matrix, Scaling, fit
from models.crscore.words import Rarity, sub_words

GAMMA, RIDGE = 0.5, 0.5
SWAP_IMPORTANCE, ATTACK_IMPORTANCE = 0.1, 0.3
IDLE_COST = 0.25
LENGTH_TARGET = 0.13
"""Partial correlation with length that is left: the bound promised is .15."""
TYPICAL = 400


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


def make_background(encoder: Encoder, comments: Sequence[str], seed: int) -> Background:
    """Word rarity and typical comments from unlabelled review comments."""
    seen: Counter[str] = Counter()
    for text in comments:
        seen.update(set(sub_words(text)))
    total = math.log(len(comments))
    weights = {w: round(total - math.log(n), 2) for w, n in seen.items() if n >= 3 and len(w) < 30}
    pick = random.Random(seed)  # noqa: S311
    short = [" ".join(text.split())[:300] for text in comments if len(text) > 15]
    vectors = encoder.encode_groups([pick.sample(short, TYPICAL)])[0]
    vectors = vectors.astype(np.float16).astype(np.float32)
    centroid = vectors.mean(axis=0)
    centroid = (centroid / np.linalg.norm(centroid)).astype(np.float16).astype(np.float32)
    return Background(Rarity(weights, round(total, 2)), centroid, vectors)


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
    """Reviews that people found of some use, set against another diff of their fold: rows, the
    diff and the system that each came from."""
    pick = random.Random(seed)  # noqa: S311
    first = dict(zip(study.diffs, study.rows, strict=True))
    rows, diffs, systems = [], [], []
    for i, (diff, row) in enumerate(zip(study.diffs, study.rows, strict=True)):
        if not row.review.strip() or (study.human[i, 0] == 1 and pick.random() > 0.3):
            continue
        others = [d for d in first if d != diff and fold_of(d) == fold_of(diff)]
        if others:
            target = pick.choice(others)
            there = first[target]
            rows.append(Row(there.diff, row.review, there.own, there.references))
            diffs.append(diff)
            systems.append(study.systems[i])
    return rows, diffs, systems


class Table:
    """Columns of rows, made once for a whole study and its attacks."""

    def __init__(self, encoder: Encoder, known: Background) -> None:
        self._encoder, self._known = encoder, known
        self.names: tuple[str, ...] = ()

    def of(self, rows: Sequence[Row]) -> tuple[Matrix, Numbers]:
        """(columns, idle sentences) of rows."""
        views = views_of(rows, self._known)
        width = len(self._known.centroid)
        vectors = vectors_of(self._encoder, views, width)
        names, table = columns_of(views, vectors, self._known)
        self.names = tuple(names)
        return table, np.array([view.idle for view in views], dtype=np.float64)


def targets_of(human: Matrix) -> Matrix:
    """What the regression aims at: the summed logarithms of all three scores (steadier than
    relevance alone), conciseness, comprehensiveness."""
    return np.column_stack([np.log(human).sum(axis=1), human[:, 1], human[:, 2]])


@dataclass(slots=True)
class Material:
    """All numbers that fitting needs: the study's and the attacks', with their groups."""

    study: Study
    table: Matrix
    idle: Numbers
    extra: Matrix
    extra_diffs: list[int]
    extra_systems: list[str]
    lengths: Numbers
    quantiles: Numbers


def regress(
    material: Material,
    columns: npt.NDArray[np.int64],
    scaling: Scaling,
    keep: npt.NDArray[np.bool_],
    keep_extra: npt.NDArray[np.bool_],
) -> KernelRidge:
    """The regression on the kept rows and attacks (which aim at 1, 1, 1)."""
    rows = scaling.apply(np.vstack([material.table[keep], material.extra[keep_extra]]))[:, columns]
    targets = np.vstack(
        [
            targets_of(material.study.human[keep]),
            np.tile([0.0, 1.0, 1.0], (int(keep_extra.sum()), 1)),
        ]
    )
    extra = [
        ATTACK_IMPORTANCE if name == "" else SWAP_IMPORTANCE for name in material.extra_systems
    ]
    importance = np.r_[np.ones(int(keep.sum())), np.array(extra)[keep_extra]]
    return fit(rows, targets, importance, GAMMA, RIDGE)


def out_of_fold(
    material: Material,
    columns: npt.NDArray[np.int64],
    groups: Sequence[Any],
    extra_groups: Sequence[Any] | None = None,
) -> Matrix:
    """Regression outputs of every row from the rows of other groups."""
    owner = np.array(groups)
    other = np.array(extra_groups) if extra_groups is not None else None
    out = np.zeros((len(owner), 3))
    for group in np.unique(owner):
        here = owner == group
        keep = np.ones(len(material.extra), dtype=bool) if other is None else other != group
        scaling = Scaling.of(material.table[~here])
        model = regress(material, columns, scaling, ~here, keep)
        out[here] = model.predict(scaling.apply(material.table[here])[:, columns])
    return out


def finish(
    regression: KernelRidge, columns: npt.NDArray[np.int64], outputs: Matrix, material: Material
) -> Head:
    """Calibrate a head on out-of-fold outputs: length, probability, relevance."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    relevance = material.study.human[:, 0]
    head = Head(
        columns,
        regression,
        float(outputs[:, 0].mean()),
        float(outputs[:, 0].std()),
        0.0,
        (1.0, 0.0),
        np.zeros((0, 2)),
    )
    size = np.array([len(row.review) for row in material.study.rows], dtype=np.float64)
    low, high = 0.0, 2.0
    for _ in range(24):
        slope = (low + high) / 2
        raw = _with(head, slope=slope).raw(outputs, material.lengths, material.idle, IDLE_COST)
        if partial_spearman(raw, size, relevance) > LENGTH_TARGET:
            low = slope
        else:
            high = slope
    head = _with(head, slope=high)
    raw = head.raw(outputs, material.lengths, material.idle, IDLE_COST)
    logistic = LogisticRegression(C=1e6).fit(raw[:, None], relevance >= 3)
    steps = IsotonicRegression().fit(raw, relevance)
    places = np.quantile(raw, np.linspace(0.01, 0.99, 16))
    knots = np.column_stack([places, steps.predict(places)])
    platt = (float(logistic.coef_[0, 0]), float(logistic.intercept_[0]))
    return _with(head, platt=platt, knots=knots)


def _with(head: Head, **changes: Any) -> Head:
    from dataclasses import replace

    return replace(head, **changes)


def prepare(table: Table, study: Study, seed: int) -> Material:
    """Columns of a study, of its swapped reviews and of its attacks."""
    rows, idle = table.of(study.rows)
    swapped, swapped_diffs, swapped_systems = swapped_rows(study, seed)
    attacks, attack_diffs, _ = attack_rows(study, seed, ("repeat", "names", "praise"))
    extra, _ = table.of([*swapped, *attacks])
    quantiles = np.quantile([len(row.review) for row in study.rows], np.linspace(0, 1, 65))
    quantiles = quantiles + np.arange(65) * 1e-6
    reviews = [row.review for row in study.rows]
    return Material(
        study=study,
        table=rows,
        idle=idle,
        extra=extra,
        extra_diffs=[*swapped_diffs, *attack_diffs],
        extra_systems=[*swapped_systems, *("" for _ in attacks)],
        lengths=length_ranks(quantiles, reviews),
        quantiles=quantiles,
    )


def head_columns(names: Sequence[str], head: str) -> npt.NDArray[np.int64]:
    """The columns that a head reads: ``diff`` leaves out those of given references."""
    return np.array(
        [i for i, n in enumerate(names) if head == "claims" or not n.startswith("ref_")]
    )


def weights_of(
    material: Material,
    known: Background,
    names: Sequence[str],
    heads: dict[str, Head],
    scaling: Scaling,
    encoder_sha256: str,
) -> Weights:
    """Weights from their parts."""
    return Weights(
        encoder_sha256, tuple(names), known, scaling, heads, material.quantiles, IDLE_COST
    )


def fit_weights(
    material: Material, table: Table, known: Background, encoder_sha256: str
) -> Weights:
    """The whole judge from prepared material."""
    scaling = Scaling.of(material.table)
    every = np.ones(len(material.table), dtype=bool)
    every_extra = np.ones(len(material.extra), dtype=bool)
    folds = [fold_of(diff) for diff in material.study.diffs]
    extra_folds = [fold_of(diff) for diff in material.extra_diffs]
    heads = {}
    for name in HEADS:
        columns = head_columns(table.names, name)
        outputs = out_of_fold(material, columns, folds, extra_folds)
        regression = regress(material, columns, scaling, every, every_extra)
        heads[name] = finish(regression, columns, outputs, material)
    return weights_of(material, known, table.names, heads, scaling, encoder_sha256)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, check and write the judge and its model card."""
    from models.crscore.judge_report import write_card

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MARGINALIA_DATA", ".")))
    parser.add_argument("--out", type=Path, default=default_folder())
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    encoder = SentenceEncoder()
    comments = [row["comment"] for row in read_lines(given.data / "pr_reviews/python.jsonl.gz")]
    known = make_background(encoder, comments, given.seed)
    table = Table(encoder, known)
    study = read_study(given.data)
    material = prepare(table, study, given.seed)
    weights = fit_weights(material, table, known, encoder.sha256)
    save_weights(weights, given.out)
    write_card(given.out, given.data, material, table, known, encoder, given.seed)


if __name__ == "__main__":
    main()
