"""The judge's model card: what it was fitted on, how well it agrees with people, where it fails.

Every number is computed here from the data when the judge is fitted. Development numbers are
out of fold on four fifths of the diffs; the last look is at the fifth that no choice has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.crscore import CRScore
from models.crscore.agreement import Numbers, spearman
from models.crscore.features import Row
from models.crscore.fit_judge import (
    IDLE_COST,
    Material,
    Table,
    attack_rows,
    finish,
    fold_of,
    head_columns,
    is_held,
    out_of_fold,
    read_lines,
    regress,
)
from models.crscore.judge import Head, length_ranks
from models.crscore.kernel import Matrix, Scaling

Mask = npt.NDArray[np.bool_]
ATTACK_KINDS = ("repeat", "names", "praise", "swap", "filling")


def part_of(material: Material, keep: Mask, keep_extra: Mask) -> Material:
    """The material of some rows and some attacks."""
    where = np.flatnonzero(keep_extra)
    return Material(
        study=material.study.take(keep),
        table=material.table[keep],
        idle=material.idle[keep],
        extra=material.extra[keep_extra],
        extra_diffs=[material.extra_diffs[i] for i in where],
        extra_systems=[material.extra_systems[i] for i in where],
        lengths=material.lengths[keep],
        quantiles=material.quantiles,
    )


def split(material: Material) -> tuple[Material, Material]:
    """(development, last look): by the diffs' hashes."""
    held = np.array([is_held(diff) for diff in material.study.diffs])
    held_extra = np.array([is_held(diff) for diff in material.extra_diffs])
    return part_of(material, ~held, ~held_extra), part_of(material, held, held_extra)


def score_raw(head: Head, material: Material, outputs: Matrix) -> Numbers:
    """Final scores of regression outputs."""
    return head.raw(outputs, material.lengths, material.idle, IDLE_COST)


@dataclass(frozen=True, slots=True)
class Check:
    """One head, fitted on development and looked at three ways."""

    head: Head
    columns: npt.NDArray[np.int64]
    by_diff: Numbers
    by_system: Numbers
    by_language: Numbers
    held: Numbers


def check_head(name: str, names: Sequence[str], development: Material, held: Material) -> Check:
    """Cross-validate a head on development and apply it to the last look."""
    columns = head_columns(names, name)
    study = development.study
    folds = [fold_of(diff) for diff in study.diffs]
    outputs = out_of_fold(
        development, columns, folds, [fold_of(diff) for diff in development.extra_diffs]
    )
    scaling = Scaling.of(development.table)
    every = np.ones(len(study.rows), dtype=bool), np.ones(len(development.extra), dtype=bool)
    regression = regress(development, columns, scaling, *every)
    head = finish(regression, columns, outputs, development)
    systems = out_of_fold(development, columns, study.systems, development.extra_systems)
    language = dict(zip(study.diffs, study.languages, strict=True))
    languages = out_of_fold(
        development,
        columns,
        study.languages,
        [language[diff] for diff in development.extra_diffs],
    )
    seen = regression.predict(scaling.apply(held.table)[:, columns])
    return Check(
        head=head,
        columns=columns,
        by_diff=score_raw(head, development, outputs),
        by_system=score_raw(head, development, systems),
        by_language=score_raw(head, development, languages),
        held=score_raw(head, held, seen),
    )


def rel_of(scorer: CRScore, rows: Sequence[Row], head: str) -> Numbers:
    """CRScore's Rel of rows: with the claims read off (``diff``) or the given ones."""
    pairs = [(row.review, row.own if head == "diff" else row.references) for row in rows]
    return np.array([score.rel for score in scorer.score_reference_batch(pairs)])


def attack_rates(
    check: Check, development: Material, table: Table, seed: int
) -> dict[str, tuple[float, int]]:
    """By kind: share of (attack, real review rated 3 or more) pairs where the attack is lower.

    Attacks are of another seed than those fitted on, and are scored by models of other folds.
    The pair of a filled review is that very review.
    """
    study = development.study
    rows, diffs, kinds = attack_rows(study, seed + 1)
    columns, idle = table.of(rows)
    scores = np.zeros(len(rows))
    lengths = length_ranks(development.quantiles, [row.review for row in rows])
    owner = np.array([fold_of(diff) for diff in study.diffs])
    extra_owner = np.array([fold_of(diff) for diff in development.extra_diffs])
    for fold in np.unique(owner):
        here = np.array([fold_of(diff) == fold for diff in diffs])
        scaling = Scaling.of(development.table[owner != fold])
        model = regress(development, check.columns, scaling, owner != fold, extra_owner != fold)
        outputs = model.predict(scaling.apply(columns[here])[:, check.columns])
        scores[here] = check.head.raw(outputs, lengths[here], idle[here], IDLE_COST)
    lower: dict[str, list[bool]] = {kind: [] for kind in ATTACK_KINDS}
    real: dict[int, list[tuple[str, float]]] = {}
    for i, diff in enumerate(study.diffs):
        if study.human[i, 0] >= 3:
            real.setdefault(diff, []).append((study.rows[i].review, float(check.by_diff[i])))
    for row, diff, kind, score in zip(rows, diffs, kinds, scores, strict=True):
        for review, good in real.get(diff, ()):
            if kind != "filling" or row.review.startswith(review.rstrip()):
                lower[kind].append(bool(score < good))
    return {kind: (float(np.mean(v)), len(v)) for kind, v in lower.items() if v}


def graded(data: Path, table: Table, check: Check, development: Material) -> tuple[float, float]:
    """(AUC of grade 3 or more, Spearman) on ``graded_reviews``, never used for fitting."""
    from sklearn.metrics import roc_auc_score

    records = list(read_lines(data / "graded_reviews/grades.jsonl.gz"))
    rows = [Row(_as_diff(r["code"]), r["review"]) for r in records]
    columns, idle = table.of(rows)
    scaling = Scaling.of(development.table)
    outputs = check.head.regression.predict(scaling.apply(columns)[:, check.columns])
    lengths = length_ranks(development.quantiles, [row.review for row in rows])
    raw = check.head.raw(outputs, lengths, idle, IDLE_COST)
    grades = np.array([r["grade"] for r in records], dtype=np.float64)
    return float(roc_auc_score(grades >= 3, raw)), spearman(raw, grades)


def _as_diff(code: str) -> str:
    """A method on one line, as a diff that adds it (its statements as lines)."""
    body = code.partition(":")[2] if code.startswith("code2comment") else code
    lines = body.replace("; ", ";\n").replace("{ ", "{\n").replace("} ", "}\n").splitlines()
    return f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def expected_error(probability: Numbers, truth: Mask, bins: int = 10) -> float:
    """Expected calibration error: mean gap of probability and share, over equal bins."""
    order = np.array_split(np.argsort(probability), bins)
    gaps = [len(b) * abs(probability[b].mean() - truth[b].mean()) for b in order]
    return float(sum(gaps) / len(probability))
