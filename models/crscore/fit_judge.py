"""Fitting the judge on people's scores: ``python -m models.crscore.fit_judge --data DIR``.

Labels come from ``crscore/annotations`` only. ``pr_reviews`` gives unlabelled comments: how rare
a word is, and what typical comments look like. A fifth of the diffs, chosen by hash, is left out
of every choice and looked at once; the shipped weights are then fitted on all diffs. The same
data and seed give the same weights; ``--vectors FILE`` keeps the sentence vectors for another fit.
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.crscore.agreement import Numbers, partial_spearman
from models.crscore.change_text import ChangeText, read_change
from models.crscore.encoder import Encoder, SentenceEncoder, Vectors
from models.crscore.features import Background, Row, View, views_of
from models.crscore.idle import FILLINGS, PARTS, IdleFinder, Landmarks, sentence_columns
from models.crscore.judge import length_ranks, tables_of, vectors_of
from models.crscore.kept_vectors import KeptVectors
from models.crscore.kernel import KernelRidge, LeaveOut, Matrix, Scaling, fit
from models.crscore.study import (
    Study,
    attack_rows,
    fold_of,
    is_held,
    read_lines,
    read_study,
    swapped_rows,
)
from models.crscore.subjects import SUBJECTS
from models.crscore.weights import HEADS, Head, Weights, default_folder, save_weights, settle
from models.crscore.words import Rarity, sub_words

GAMMA, RIDGE = 0.8, 0.25
VECTOR_WEIGHT = 0.6
"""What similarities of sentences and lines count for in distances: there are many, much alike."""
_SIMILARITIES = ("added_", "deleted_", "context_", "changed_", "block", "rank", "excess")
SWAP_IMPORTANCE, ATTACK_IMPORTANCE = 0.1, 0.3
IDLE_COST = 0.1
LENGTH_TARGET = 0.09
"""Partial correlation with length that is left; the bound promised is .15."""
TYPICAL = 400
FILLINGS_A_DIFF = 12


def make_background(
    encoder: Encoder, comments: Sequence[str], changes: Sequence[ChangeText], seed: int
) -> Background:
    """Word rarity, typical comments and common subjects of unlabelled comments and changes."""
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
    shown = Counter(name for change in changes for name in change.subjects.changed)
    subjects = {
        name: round(math.log((len(changes) + 1) / (shown[name] + 1)), 2) for name in SUBJECTS
    }
    return Background(Rarity(weights, round(total, 2)), centroid, vectors, subjects)


@dataclass(slots=True)
class Numbered:
    """Rows as numbers: their columns, those of their reductions (``below``), whose reduction each
    is (``owners``) and how many idle sentences it lacks (``missing``), and ranks of length."""

    table: Matrix
    below: Matrix
    owners: npt.NDArray[np.int64]
    missing: Matrix
    lengths: Matrix
    lengths_below: Matrix

    def take(self, keep: npt.NDArray[np.bool_]) -> Numbered:
        """The rows where ``keep`` is true, with their reductions."""
        part = keep[self.owners] if len(self.owners) else np.zeros(0, dtype=bool)
        place = np.cumsum(keep) - 1
        return Numbered(
            self.table[keep],
            self.below[part],
            place[self.owners[part]],
            self.missing[part],
            self.lengths[keep],
            self.lengths_below[part],
        )

    def score(self, head: Head, outputs: Matrix, below: Matrix) -> Numbers:
        """Final scores from regression outputs of the rows and of their reductions."""
        raw = head.raw(outputs, self.lengths)
        lower = head.raw(below, self.lengths_below)
        return settle(raw, lower, self.owners, IDLE_COST * self.missing)


class Table:
    """Numbers of rows, made once for a whole study and its attacks."""

    def __init__(self, encoder: Encoder, known: Background, quantiles: Numbers) -> None:
        self._encoder, self._known = encoder, known
        self.quantiles = quantiles
        self.names: tuple[str, ...] = ()

    def of(self, rows: Sequence[Row]) -> Numbered:
        """The numbers of rows."""
        self.names, table, reduced, below, _ = tables_of(self._encoder, rows, self._known)
        return Numbered(
            table,
            below,
            reduced.owners,
            reduced.missing,
            length_ranks(self.quantiles, [row.review for row in rows]),
            length_ranks(self.quantiles, [row.review for row in reduced.rows]),
        )


def quantiles_of(reviews: Sequence[str]) -> Numbers:
    """Evenly spaced quantiles of length in characters, strictly increasing."""
    found = np.quantile([len(review) for review in reviews], np.linspace(0, 1, 65))
    return np.asarray(found + np.arange(65) * 1e-6)


def make_finder(study: Study, known: Background, encoder: Encoder, seed: int) -> IdleFinder:
    """A finder of idle sentences from the development diffs: fillings against the sentences of
    reviews that people gave 3 or more. Other changes are those diffs as well."""
    from sklearn.linear_model import LogisticRegression

    keep = [i for i, diff in enumerate(study.diffs) if not is_held(diff)]
    views = views_of([study.rows[i] for i in keep])
    vectors = vectors_of(encoder, views, len(known.centroid))
    vectors.update(zip(FILLINGS, encoder.encode_groups([FILLINGS])[0], strict=True))
    first = {study.diffs[i]: view for i, view in zip(keep, views, strict=True)}
    marks = _landmarks(first.values(), vectors, known)
    pick = random.Random(seed)  # noqa: S311
    parts = [
        (pick.sample(FILLINGS, FILLINGS_A_DIFF), view.change, 1.0) for view in first.values()
    ] + [
        (view.pieces, view.change, 0.0)
        for i, view in zip(keep, views, strict=True)
        if study.human[i, 0] >= 3 and view.pieces
    ]
    said = [text for texts, _, label in parts if not label for text in texts]
    cloud = np.stack([vectors[text] for text in (*said, *FILLINGS * 8)])
    center = cloud.mean(axis=0)
    basis = np.linalg.svd(cloud - center, full_matrices=False)[2][:PARTS].T
    marks = replace(marks, center=center, basis=np.ascontiguousarray(basis))
    table = np.vstack(
        [
            sentence_columns(texts, change, known.rarity, vectors, marks)
            for texts, change, _ in parts
        ]
    )
    labels = np.concatenate([np.full(len(texts), label) for texts, _, label in parts])
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-6
    model = LogisticRegression(C=0.05, class_weight="balanced", max_iter=1000)
    model.fit((table - mean) / spread, labels)
    return IdleFinder(mean, spread, model.coef_[0], float(model.intercept_[0]), marks)


def _landmarks(
    views: Iterable[View], vectors: Mapping[str, Vectors], known: Background
) -> Landmarks:
    """Landmarks of views of different changes, rounded as they are stored; no components yet."""
    bank = np.stack([vectors[view.change.block] for view in views])
    fillings = np.stack([vectors[text] for text in FILLINGS])
    bank, fillings = (part.astype(np.float16).astype(np.float32) for part in (bank, fillings))
    width = bank.shape[1]
    none = np.zeros(width, np.float32), np.zeros((width, PARTS), np.float32)
    return Landmarks(fillings, bank, known.comments, *none)


def targets_of(human: Matrix) -> Matrix:
    """What the regression aims at: the summed logarithms of all three scores (steadier than
    relevance alone), conciseness, comprehensiveness."""
    return np.column_stack([np.log(human).sum(axis=1), human[:, 1], human[:, 2]])


@dataclass(slots=True)
class Material:
    """All numbers that fitting needs: the study's and the attacks', with their groups."""

    study: Study
    rows: Numbered
    extra: Matrix
    extra_diffs: list[int]
    extra_systems: list[str]

    def take(self, keep: npt.NDArray[np.bool_], keep_extra: npt.NDArray[np.bool_]) -> Material:
        """The material of some rows and some attacks."""
        where = np.flatnonzero(keep_extra)
        return Material(
            self.study.take(keep),
            self.rows.take(keep),
            self.extra[keep_extra],
            [self.extra_diffs[i] for i in where],
            [self.extra_systems[i] for i in where],
        )


@dataclass(frozen=True, slots=True)
class Fitted:
    """A head's regression on some material, and what tells its rows' groups apart."""

    columns: npt.NDArray[np.int64]
    scaling: Scaling
    regression: LeaveOut

    def outputs(self, model: KernelRidge, table: Matrix) -> Matrix:
        """A model's outputs (n, 3) of unscaled columns."""
        return model.predict(self.scaling.apply(table)[:, self.columns])


def scaling_of(table: Matrix, names: Sequence[str]) -> Scaling:
    """Scaling by the rows themselves, with ``VECTOR_WEIGHT`` for similarities to lines."""
    scaling = Scaling.of(table)
    prefixes = tuple(f"pair_{name}" for name in _SIMILARITIES)
    light = np.array([n.startswith(prefixes) and n != "pair_changed_said" for n in names])
    return replace(scaling, spread=np.where(light, scaling.spread / VECTOR_WEIGHT, scaling.spread))


def regress(material: Material, names: Sequence[str], columns: npt.NDArray[np.int64]) -> Fitted:
    """The regression on all rows and attacks (which aim at 1, 1, 1)."""
    table = material.rows.table
    scaling = scaling_of(table, names)
    rows = scaling.apply(np.vstack([table, material.extra]))[:, columns]
    lowest = np.tile([0.0, 1.0, 1.0], (len(material.extra), 1))
    targets = np.vstack([targets_of(material.study.human), lowest])
    extra = [
        ATTACK_IMPORTANCE if name == "" else SWAP_IMPORTANCE for name in material.extra_systems
    ]
    importance = np.r_[np.ones(len(table)), extra]
    return Fitted(columns, scaling, fit(rows, targets, importance, GAMMA, RIDGE))


Grouping = tuple[Sequence[Any], Sequence[Any]]
"""The group of every row, and of every attack."""


def folds_of(material: Material) -> Grouping:
    """The fold of every row's and every attack's diff."""
    return (
        [fold_of(diff) for diff in material.study.diffs],
        [fold_of(diff) for diff in material.extra_diffs],
    )


def out_of_fold(material: Material, fitted: Fitted, *by: Grouping) -> tuple[Matrix, Matrix]:
    """Outputs of every row, and of every reduction, from the rows of other groups: by several
    groupings, from those that share none of its groups."""
    rows = material.rows
    count = len(rows.table)
    out, below = np.zeros((count, 3)), np.zeros((len(rows.below), 3))
    # each row's groups, then each attack's, as one table of (row, grouping)
    groups = np.array([[*own, *extra] for own, extra in by], dtype=object).T
    for group in dict.fromkeys(map(tuple, groups[:count])):
        same = groups == np.array(group, dtype=object)
        here = same[:count].all(axis=1)
        part = here[rows.owners]
        model = fitted.regression.without(np.flatnonzero(same.any(axis=1)))
        out[here] = fitted.outputs(model, rows.table[here])
        below[part] = fitted.outputs(model, rows.below[part])
    return out, below


def finish(fitted: Fitted, outputs: Matrix, below: Matrix, material: Material) -> Head:
    """Calibrate a head on out-of-fold outputs: length, probability, relevance."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    relevance = material.study.human[:, 0]
    head = Head(
        fitted.columns,
        fitted.regression.whole,
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
        raw = material.rows.score(replace(head, slope=slope), outputs, below)
        if partial_spearman(raw, size, relevance) > LENGTH_TARGET:
            low = slope
        else:
            high = slope
    head = replace(head, slope=high)
    raw = material.rows.score(head, outputs, below)
    logistic = LogisticRegression(C=1e6).fit(raw[:, None], relevance >= 3)
    steps = IsotonicRegression().fit(raw, relevance)
    places = np.quantile(raw, np.linspace(0.01, 0.99, 16))
    knots = np.column_stack([places, steps.predict(places)])
    platt = (float(logistic.coef_[0, 0]), float(logistic.intercept_[0]))
    return replace(head, platt=platt, knots=knots)


def prepare(table: Table, study: Study, seed: int) -> Material:
    """Numbers of a study, of its swapped reviews and of its attacks."""
    swapped, swapped_diffs, swapped_systems = swapped_rows(study, seed)
    attacks, attack_diffs, _ = attack_rows(study, seed, ("repeat", "names", "praise"))
    return Material(
        study=study,
        rows=table.of(study.rows),
        extra=table.of([*swapped, *attacks]).table,
        extra_diffs=[*swapped_diffs, *attack_diffs],
        extra_systems=[*swapped_systems, *("" for _ in attacks)],
    )


def head_columns(names: Sequence[str], head: str) -> npt.NDArray[np.int64]:
    """The columns that a head reads: ``diff`` leaves out those of given references."""
    return np.array(
        [i for i, n in enumerate(names) if head == "claims" or not n.startswith("ref_")]
    )


def fit_weights(
    material: Material, table: Table, known: Background, encoder_sha256: str
) -> Weights:
    """The whole judge from prepared material."""
    folds = folds_of(material)
    heads = {}
    for name in HEADS:
        fitted = regress(material, table.names, head_columns(table.names, name))
        outputs, below = out_of_fold(material, fitted, folds)
        heads[name] = finish(fitted, outputs, below, material)
    scaling = scaling_of(material.rows.table, table.names)
    return Weights(encoder_sha256, table.names, known, scaling, heads, table.quantiles, IDLE_COST)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, check and write the judge and its model card."""
    from models.crscore.judge_report import write_card

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MARGINALIA_DATA", ".")))
    parser.add_argument("--out", type=Path, default=default_folder())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--vectors", type=Path, help="File that keeps sentence vectors from one fit to the next."
    )
    given = parser.parse_args(arguments)
    plain = SentenceEncoder(dtype="float32")  # the same weights on every kind of processor
    kept = KeptVectors(plain, given.vectors) if given.vectors else None
    encoder: Encoder = kept or plain
    remarks = list(read_lines(given.data / "pr_reviews/python.jsonl.gz"))
    changes = [read_change(row["diff_hunk"]) for row in remarks[::4]]
    known = make_background(encoder, [row["comment"] for row in remarks], changes, given.seed)
    study = read_study(given.data)
    known.finder = make_finder(study, known, encoder, given.seed)
    table = Table(encoder, known, quantiles_of([row.review for row in study.rows]))
    material = prepare(table, study, given.seed)
    weights = fit_weights(material, table, known, encoder.sha256)
    save_weights(weights, given.out)
    if kept is not None:
        kept.save()
    write_card(given.out, given.data, material, table, known, encoder, given.seed)
    if kept is not None:
        kept.save()


if __name__ == "__main__":
    main()
