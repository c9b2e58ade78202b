"""The honest table of a revision model: what it gets right over all hunks, revised or not.

Test windows come from repositories that are held out of training (``splits``). Each revised window
is asked for its revision, and as many unrevised ones are asked too, whose right answer is silence.
An answer counts as right when the revised lines are exactly what people wrote. Ranked by the
model's probability, ``precision at c % coverage`` is the share of right answers among the best c %
of all windows, with the unrevised ones weighted to a natural ratio.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.analyzers.base import run_analyzers
from models.generators.base import Generator, Window
from models.generators.line_edits import apply_edits
from models.review_types import Finding
from models.training.abstracted import Reviews, abstracted_example
from models.training.examples import Example
from models.training.mixture import Edits, PullRequests
from models.training.splits import Part

COVERAGES = (0.01, 0.05, 0.10, 0.20)
_SUFFIX = {
    "python": ".py",
    "javascript": ".js",
    "typescript": ".ts",
    "java": ".java",
    "go": ".go",
    "rust": ".rs",
    "c": ".c",
    "cpp": ".cc",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One window's best answer: how probable, whether right, whether the window was revised."""

    probability: float
    right: bool
    revised: bool
    answered: bool


def draw(
    maker: Callable[[random.Random], Example | None], count: int, rng: random.Random
) -> list[Example]:
    """``count`` examples of a maker (fewer where it runs dry), each window once."""
    seen: set[tuple[str, ...]] = set()
    rows: list[Example] = []
    for _ in range(count * 20):
        if len(rows) == count:
            break
        example = maker(rng)
        if example is not None and example.lines not in seen and len(example.lines) <= 40:
            seen.add(example.lines)
            rows.append(example)
    return rows


def answer_all(generator: Generator, examples: Sequence[Example]) -> list[Judged]:
    """The best answer to each window, judged against what people wrote."""
    windows = [Window(e.language, e.lines, e.changed, comment=e.comment) for e in examples]
    result: list[Judged] = []
    for example, found in zip(examples, generator.revise(windows), strict=True):
        wanted = apply_edits(example.lines, example.edits)
        best = max(found, key=lambda answer: answer.probability, default=None)
        written = apply_edits(example.lines, best.edits) if best is not None else None
        result.append(
            Judged(
                best.probability if best is not None else 0.0,
                bool(example.edits) and written == wanted,
                bool(example.edits),
                best is not None and best.probability > best.nothing,
            )
        )
    return result


def precision_at(
    judged: Sequence[Judged], coverage: float, unrevised_weight: float
) -> float | None:
    """Precision among the most probable ``coverage`` of all (weighted) windows."""
    if not judged:
        return None
    rows = sorted(judged, key=lambda row: -row.probability)
    weights = np.array([1.0 if row.revised else unrevised_weight for row in rows])
    chosen = np.cumsum(weights) <= coverage * weights.sum()
    if not chosen.any():
        chosen[0] = True
    right = np.array([row.right for row in rows])
    return float((weights * right)[chosen].sum() / weights[chosen].sum())


def table_row(judged: Sequence[Judged], ratio: float = 9.0) -> dict[str, Any]:
    """All numbers of one data set; ``ratio`` is unrevised windows for each revised one."""
    revised = [row for row in judged if row.revised]
    quiet = [row for row in judged if not row.revised]
    weight = ratio * len(revised) / len(quiet) if quiet else 1.0
    return {
        "revised": len(revised),
        "unrevised": len(quiet),
        "exact_match": sum(row.right for row in revised) / len(revised) if revised else None,
        "answers_on_revised": _share(row.answered for row in revised),
        "answers_on_unrevised": _share(row.answered for row in quiet),
        "precision": {
            f"{coverage:.0%}": precision_at(judged, coverage, weight if quiet else 1.0)
            for coverage in COVERAGES
        },
        "precision_1_to_1": {
            f"{coverage:.0%}": precision_at(judged, coverage, 1.0) for coverage in COVERAGES
        },
    }


def _share(values: Any) -> float | None:
    rows = list(values)
    return sum(rows) / len(rows) if rows else None


def fixer_answers(examples: Sequence[Example]) -> list[Judged]:
    """What the analyzers' machine fixes make of the same windows, as files of their own."""
    files = {
        f"w{index}{_SUFFIX[e.language]}": ("\n".join(e.lines) + "\n").encode()
        for index, e in enumerate(examples)
        if e.language in _SUFFIX
    }
    report = run_analyzers(files, time_limit_s=300)
    fixes: dict[int, list[Finding]] = {}
    for finding in report.findings:
        index = int(finding.path[1:].split(".")[0])
        touched = range(finding.line - 1, finding.end_line)
        if finding.fix and examples[index].changed.intersection(touched):
            fixes.setdefault(index, []).append(finding)
    rows: list[Judged] = []
    for index, example in enumerate(examples):
        found = fixes.get(index, [])
        right = False
        wanted = apply_edits(example.lines, example.edits)
        for finding in found:
            lines = list(example.lines)
            for fix in sorted(finding.fix, key=lambda item: -item.start_line):
                lines[fix.start_line - 1 : fix.end_line] = fix.lines
            right = right or (bool(example.edits) and lines == wanted)
        rows.append(Judged(1.0 if found else 0.0, right, bool(example.edits), bool(found)))
    return rows


def held_sets(data: Path, part: Part, count: int, seed: int = 11) -> dict[str, list[Example]]:
    """The held windows: real edits with as many unrevised ones, faults made on purpose, blocks."""
    rng = random.Random(seed)  # noqa: S311 - a fixed sample, no secret
    edits = Edits(data, part)
    people = PullRequests(data, part)
    crb = draw(lambda r: _only(edits.revision(r), "crb"), count, rng)
    quiet = draw(edits.unrevised, count, rng)
    blocks = draw(people.suggestion, min(count, len(people.suggestions)), rng)
    return {
        "edits (CRB)": crb + quiet,
        "edits, commit message as comment (CRA)": draw(
            lambda r: _only(edits.revision(r), "cra"), count // 2, rng
        ),
        "faults made on purpose (CRB)": draw(edits.spoiled, count, rng) + quiet,
        "pr_reviews suggestions": blocks,
    }


def _only(example: Example | None, task: str) -> Example | None:
    return example if example is not None and example.task == task else None


def calibrate(judged: Sequence[Judged], ratio: float = 9.0) -> list[list[float]]:
    """Isotonic precision by probability, fitted on validation windows at the natural ratio.

    Returns:
        At most 20 (probability, precision) pairs, both ascending, for the task card.
    """
    from sklearn.isotonic import IsotonicRegression

    quiet = sum(not row.revised for row in judged)
    weight = ratio * (len(judged) - quiet) / quiet if quiet else 1.0
    probability = np.array([row.probability for row in judged])
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
        probability,
        np.array([row.right for row in judged], dtype=float),
        sample_weight=[1.0 if row.revised else weight for row in judged],
    )
    points = np.unique(np.quantile(probability, np.linspace(0, 1, 20)))
    return [[round(float(p), 6), round(float(fitted.predict([p])[0]), 4)] for p in points]


def evaluate(generator: Generator, data: Path, count: int = 300) -> dict[str, Any]:
    """The whole table on test repositories, beside copying and the analyzers' fixes."""
    table: dict[str, Any] = {}
    sets = held_sets(data, "test", count)
    for task in ("crb", "cra"):
        sets[f"trans_review valid ({task.upper()})"] = abstracted_set(data, count, task)
    for name, examples in sets.items():
        table[name] = {
            "model": table_row(answer_all(generator, examples)),
            "analyzers' fixes": table_row(fixer_answers(examples)),
            "copying": {"exact_match": 0.0},
        }
    return table


def render(table: Mapping[str, Any]) -> str:
    """The table as Markdown; fractions as per cent."""
    head = (
        "| held data | by | windows (revised + not) | exact match | speaks on revised / not | "
        "precision at 1 / 5 / 10 / 20 % (9 unrevised to 1) | at 1 to 1 |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    rows: list[str] = []
    for name, systems in table.items():
        for system, row in systems.items():
            if "revised" not in row:
                rows.append(f"| {name} | {system} | | {_pct(row['exact_match'])} | | | |")
                continue
            rows.append(
                f"| {name} | {system} | {row['revised']} + {row['unrevised']} | "
                f"{_pct(row['exact_match'])} | {_pct(row['answers_on_revised'])} / "
                f"{_pct(row['answers_on_unrevised'])} | "
                f"{' / '.join(_pct(v) for v in row['precision'].values())} | "
                f"{' / '.join(_pct(v) for v in row['precision_1_to_1'].values())} |"
            )
    return head + "\n".join(rows) + "\n"


def _pct(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.1f}"


def abstracted_set(data: Path, count: int, task: str) -> list[Example]:
    """Trans-Review's validation methods as windows of a task (never trained on)."""
    rng = random.Random(5)  # noqa: S311 - a fixed sample, no secret
    rows = Reviews(data, "valid").rows
    return draw(lambda r: abstracted_example(r.choice(rows), task), count, rng)
