"""How often a revision model is right, by how much of all windows it speaks on.

Ranked by the model's probability, precision at a coverage is the share of right answers among the
most probable windows, unrevised windows (on which every answer is wrong) among them at a natural
ratio. Beside it: how well the probability of "nothing to revise" tells the two kinds apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.benchmark.plot import Series, line_chart
from models.generators.base import Generator, Window
from models.generators.line_edits import apply_edits
from models.training.examples import Example

AT = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The coverages of the table."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The best answer to one window.

    ``probability`` is 0 where there is none, ``nothing`` the model's probability of "nothing to
    revise" (1 where there is no answer), ``right`` whether the answer is what people wrote.
    """

    probability: float
    nothing: float
    right: bool
    revised: bool


@dataclass(frozen=True, slots=True)
class Point:
    """Precision over the most probable windows, down to ``threshold``."""

    coverage: float
    precision: float
    threshold: float


def speak(generator: Generator, examples: Sequence[Example]) -> list[Spoken]:
    """The generator's best answer to each window, against what people wrote."""
    windows = [Window(e.language, e.lines, e.changed, comment=e.comment) for e in examples]
    rows: list[Spoken] = []
    for example, found in zip(examples, generator.revise(windows), strict=True):
        best = max(found, key=lambda answer: answer.probability, default=None)
        if best is None:
            rows.append(Spoken(0.0, 1.0, False, bool(example.edits)))
            continue
        wanted = apply_edits(example.lines, example.edits)
        right = bool(example.edits) and apply_edits(example.lines, best.edits) == wanted
        rows.append(Spoken(best.probability, best.nothing, right, bool(example.edits)))
    return rows


def curve(rows: Sequence[Spoken], ratio: float = 9.0) -> list[Point]:
    """Precision at every coverage, the most probable windows first.

    Args:
        rows: of one data set.
        ratio: unrevised windows for each revised one, by weight; of no meaning where there are
            only revised ones.
    """
    revised = sum(row.revised for row in rows)
    quiet = len(rows) - revised
    weight = ratio * revised / quiet if quiet else 1.0
    whole = revised + weight * quiet
    points: list[Point] = []
    spoken = right = 0.0
    ranked = sorted(rows, key=lambda row: -row.probability)
    for place, row in enumerate(ranked):
        spoken += 1.0 if row.revised else weight
        right += row.right
        # windows of equal probability are spoken on together
        if place + 1 == len(ranked) or ranked[place + 1].probability < row.probability:
            points.append(Point(spoken / whole, right / spoken, row.probability))
    return points


def at_coverage(points: Sequence[Point], coverage: float) -> Point:
    """The last point within a coverage, or the first where none is."""
    return max((p for p in points if p.coverage <= coverage), default=points[0], key=_coverage)


def _coverage(point: Point) -> float:
    return point.coverage


def separation(rows: Sequence[Spoken]) -> float | None:
    """AUC of "nothing to revise": how likely an unrevised window has the higher probability.

    Returns:
        ``None`` where one of the two kinds is missing.
    """
    quiet = [row.nothing for row in rows if not row.revised]
    revised = [row.nothing for row in rows if row.revised]
    if not quiet or not revised:
        return None
    from models.training.validation import auc

    return auc(quiet, revised)


def table(sets: dict[str, list[Spoken]], ratio: float = 9.0) -> str:
    """Precision at the coverages ``AT``, and the AUC, as Markdown; per cent."""
    head = [f"{100 * coverage:g} %" for coverage in AT]
    lines = [
        "| held data | windows (revised + not) | " + " | ".join(head) + " | AUC |",
        "|---|---|" + "---|" * (len(AT) + 1),
    ]
    for name, rows in sets.items():
        points = curve(rows, ratio)
        revised = sum(row.revised for row in rows)
        found = separation(rows)
        cells = [f"{100 * at_coverage(points, coverage).precision:.1f}" for coverage in AT]
        shown = "n/a" if found is None else f"{found:.3f}"
        count = f"{revised} + {len(rows) - revised}"
        lines.append(f"| {name} | {count} | " + " | ".join(cells) + f" | {shown} |")
    return "\n".join(lines) + "\n"


def plot(sets: dict[str, list[Spoken]], ratio: float = 9.0) -> str:
    """All curves in one chart (SVG); coverage and precision in per cent."""
    return line_chart(
        "Precision by coverage",
        "coverage of all windows, %",
        "precision, %",
        [
            Series(
                name,
                [(100 * p.coverage, 100 * p.precision) for p in curve(rows, ratio)],
            )
            for name, rows in sets.items()
        ],
    )
