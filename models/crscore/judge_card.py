"""The judge's model card: what it was fitted on, how well it agrees with people, where it fails.

Every number is computed here from the data when the judge is fitted. Development numbers are
out of fold on four fifths of the diffs; the last look is at the fifth that no choice has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.crscore import CRScore
from models.crscore.agreement import Numbers, spearman
from models.crscore.features import Row
from models.crscore.fit_judge import (
    Fitted,
    Grouping,
    Material,
    Numbered,
    Table,
    finish,
    folds_of,
    head_columns,
    out_of_fold,
    regress,
)
from models.crscore.judge import row_of
from models.crscore.study import attack_rows, fold_of, is_held, read_lines
from models.crscore.weights import Head

Mask = npt.NDArray[np.bool_]
ATTACK_KINDS = ("repeat", "names", "praise", "swap", "filling")


def split(material: Material) -> tuple[Material, Material]:
    """(development, last look): by the diffs' hashes."""
    held = np.array([is_held(diff) for diff in material.study.diffs])
    held_extra = np.array([is_held(diff) for diff in material.extra_diffs])
    return material.take(~held, ~held_extra), material.take(held, held_extra)


@dataclass(frozen=True, slots=True)
class Check:
    """One head, fitted on development and looked at five ways (``by_both``: system and diff)."""

    head: Head
    fitted: Fitted
    by_diff: Numbers
    by_system: Numbers
    by_both: Numbers
    by_language: Numbers
    held: Numbers


def check_head(name: str, names: Sequence[str], development: Material, held: Material) -> Check:
    """Cross-validate a head on development and apply it to the last look."""
    fitted = regress(development, names, head_columns(names, name))
    study = development.study
    language = dict(zip(study.diffs, study.languages, strict=True))
    folds = folds_of(development)
    systems = study.systems, development.extra_systems
    languages = study.languages, [language[diff] for diff in development.extra_diffs]
    head = finish(fitted, *out_of_fold(development, fitted, folds), development)

    def scores(*groupings: Grouping) -> Numbers:
        return development.rows.score(head, *out_of_fold(development, fitted, *groupings))

    whole = fitted.regression.whole
    seen, below = (fitted.outputs(whole, part) for part in (held.rows.table, held.rows.below))
    return Check(
        head=head,
        fitted=fitted,
        by_diff=scores(folds),
        by_system=scores(systems),
        by_both=scores(systems, folds),
        by_language=scores(languages),
        held=held.rows.score(head, seen, below),
    )


def rel_of(scorer: CRScore, rows: Sequence[Row], head: str) -> Numbers:
    """CRScore's Rel of rows: with the claims read off (``diff``) or the given ones."""
    pairs = [(row.review, row.own if head == "diff" else row.references) for row in rows]
    return np.array([score.rel for score in scorer.score_reference_batch(pairs)])


@dataclass(frozen=True, slots=True)
class Attacks:
    """Attacks on the development diffs: parallel lists, and their numbers."""

    rows: list[Row]
    diffs: list[int]
    kinds: list[str]
    numbers: Numbered


def attacks_of(development: Material, table: Table, seed: int) -> Attacks:
    """Attacks of another seed than those fitted on."""
    rows, diffs, kinds = attack_rows(development.study, seed + 1)
    return Attacks(rows, diffs, kinds, table.of(rows))


def attack_rates(
    check: Check, development: Material, attacks: Attacks
) -> dict[str, tuple[float, int]]:
    """By kind: share of (attack, real review rated 3 or more) pairs where the attack is lower.

    They are scored by models of other folds.
    The pair of a filled review is that very review.
    """
    study = development.study
    attacked = np.array([fold_of(diff) for diff in attacks.diffs])
    owner = np.array([fold_of(diff) for diff in study.diffs])
    extra_owner = np.array([fold_of(diff) for diff in development.extra_diffs])
    scores = np.zeros(len(attacks.rows))
    for fold in np.unique(owner):
        here = attacked == fold
        part = attacks.numbers.take(here)
        gone = np.r_[
            np.flatnonzero(owner == fold), len(owner) + np.flatnonzero(extra_owner == fold)
        ]
        model = check.fitted.regression.without(gone)
        outputs, below = (check.fitted.outputs(model, t) for t in (part.table, part.below))
        scores[here] = part.score(check.head, outputs, below)
    lower: dict[str, list[bool]] = {kind: [] for kind in ATTACK_KINDS}
    real: dict[int, list[tuple[str, float]]] = {}
    for i, diff in enumerate(study.diffs):
        if study.human[i, 0] >= 3:
            real.setdefault(diff, []).append((study.rows[i].review, float(check.by_diff[i])))
    found = zip(attacks.rows, attacks.diffs, attacks.kinds, scores, strict=True)
    for row, diff, kind, score in found:
        for review, good in real.get(diff, ()):
            if kind != "filling" or row.review.startswith(review.rstrip()):
                lower[kind].append(bool(score < good))
    return {kind: (float(np.mean(v)), len(v)) for kind, v in lower.items() if v}


def graded(data: Path, table: Table, check: Check) -> tuple[float, float, int]:
    """(AUC of grade 3 or more, Spearman, grades) on ``graded_reviews``, never used for fitting."""
    from sklearn.metrics import roc_auc_score

    # all methods would take longer than the whole fit; the first of every four are as good
    records = list(read_lines(data / "graded_reviews/grades.jsonl.gz"))
    methods = list(dict.fromkeys(record["code"] for record in records))[::4]
    records = [record for record in records if record["code"] in set(methods)]
    changes = {code: row_of(_as_diff(code), "") for code in methods}
    numbers = table.of(
        [replace(changes[record["code"]], review=record["review"]) for record in records]
    )
    whole = check.fitted.regression.whole
    outputs, below = (check.fitted.outputs(whole, t) for t in (numbers.table, numbers.below))
    raw = numbers.score(check.head, outputs, below)
    grades = np.array([r["grade"] for r in records], dtype=np.float64)
    return float(roc_auc_score(grades >= 3, raw)), spearman(raw, grades), len(grades)


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
