"""The papers' tables with our rows: what was run, what was not, and a copy baseline beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.benchmark import papers
from models.benchmark.run import Result

NOT_RUN = "not run"
NONE = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts with a title and a line on how to read it."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """As GitHub's Markdown."""
        lines = [f"### {self.title}", "", self.note, ""]
        lines += [_row(self.header), _row(["---"] * len(self.header))]
        lines += [_row(row) for row in self.rows]
        return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def tables(results: Sequence[Result]) -> list[Table]:
    """Tables II, III, IV, V and the completion table, filled from results."""
    return [
        _revision("Table II: code revision before review (CRB)", "crb", papers.CRB, results),
        _revision("Table III: code revision after review (CRA)", "cra", papers.CRA, results),
        _comments(results),
        _questions(results),
        _completions(results),
    ]


_BASE_ROWS = {
    "crb": ("copy", "retrieval", "java8g", "codegpt", "default"),
    "cra": ("copy", "retrieval", "codereviewer", "java8g", "codegpt", "default"),
    "rcg": ("constant", "retrieval", "codereviewer", "java8g", "codegpt", "default"),
}


def _revision(
    title: str,
    task: str,
    paper: Mapping[str, tuple[papers.Pair | None, ...]],
    results: Sequence[Result],
) -> Table:
    note = (
        "Paper: exact match / Edit Progress. Ours: exact match / Edit Progress as mean, median, "
        "aggregate (copying scores 0), then the recipe. Per cent. Paper's test sets are not ours: "
        "columns are compared by name only."
    )

    def cell(metrics: Mapping[str, Any]) -> str:
        progress = metrics["edit_progress"]
        parts = ", ".join(_percent(progress[key]) for key in ("mean", "median", "aggregate"))
        return f"{_percent(metrics['exact_match'])} / {parts}"

    return _table(title, note, task, paper, results, cell)


def _comments(results: Sequence[Result]) -> Table:
    def cell(metrics: Mapping[str, Any]) -> str:
        shown = f"{_percent(metrics['exact_match'])} / {_percent(metrics['bleu'])}"
        judged = metrics.get("judge_best_of")
        return f"{shown} / {judged['mean']:.3f}" if judged else shown

    return _table(
        "Table IV: review comment generation (RCG)",
        "Exact match / BLEU (ours: sacrebleu's corpus BLEU), in per cent; where three numbers "
        "stand, the last is the judge's mean probability for the best of the first k comments "
        "(`python -m tests.bench.rcg`). Then our recipe.",
        "rcg",
        papers.RCG,
        results,
        cell,
    )


def _table(
    title: str,
    note: str,
    task: str,
    paper: Mapping[str, tuple[papers.Pair | None, ...]],
    results: Sequence[Result],
    cell: Callable[[Mapping[str, Any]], str],
) -> Table:
    mine = [result for result in results if result.task == task and result.metrics]
    columns = sorted({result.data for result in mine})
    header = (
        "system",
        *(f"paper: {name}" for name in papers.DATA_SETS),
        *(f"ours: {name}" for name in columns),
    )
    rows: list[tuple[str, ...]] = []
    known = [*paper, *(name for name in _BASE_ROWS[task] if name not in paper)]
    extra = sorted({result.system for result in mine} - set(known))
    for name in (*known, *extra):
        reported = [
            f"{pair[0]:g} / {pair[1]:g}" if pair is not None else NONE
            for pair in paper.get(name, (None, None, None))
        ]
        ours = [_best(mine, name, column, cell) for column in columns] or []
        title_ = papers.TITLES.get(name, name)
        rows.append((title_, *reported, *ours))
    if not columns:
        header = (*header, "ours")
        rows = [(*row, NOT_RUN) for row in rows]
    return Table(title, note, header, tuple(rows))


def _best(
    results: Sequence[Result],
    system: str,
    data: str,
    cell: Callable[[Mapping[str, Any]], str],
) -> str:
    """The cell of a system on a data set: the real run, else the tiny one, else not run."""
    found = [result for result in results if result.system == system and result.data == data]
    if not found:
        return NOT_RUN
    result = min(found, key=lambda one: (one.recipe == "tiny", -one.n))
    # how many were scored: records without a target are predicted only
    size = f"n = {result.metrics.get('n', result.n)}"
    label = f" ({result.recipe}, {size})" if result.recipe else f" ({size})"
    return cell(result.metrics) + label


def _questions(results: Sequence[Result]) -> Table:
    rows: list[tuple[str, ...]] = []
    mine = [result for result in results if result.task == "rcg" and result.metrics]
    names = [*papers.INTERROGATIVE, *sorted({r.system for r in mine} - set(papers.INTERROGATIVE))]
    for name in names:
        reported = papers.INTERROGATIVE.get(name)
        share = papers.INTERROGATIVE_SHARE.get(name)
        ours = [
            f"{_percent(split['interrogative']['exact_match'])} / "
            f"{_percent(split['other']['exact_match'])} ({result.data}"
            f"{', ' + result.recipe if result.recipe else ''}; "
            f"{_percent(split['share'])} interrogative)"
            for result in mine
            if result.system == name
            for split in [result.metrics["interrogative"]]
        ]
        rows.append(
            (
                papers.TITLES.get(name, name),
                f"{share:g}" if share is not None else NONE,
                f"{reported[0]:g} / {reported[1]:g}" if reported else NONE,
                "; ".join(ours) or NOT_RUN,
            )
        )
    return Table(
        "Table V: interrogative comments",
        "Exact match of RCG on interrogative / other comments; share of interrogative texts in "
        "pre-training. Per cent.",
        ("system", "pre-training, interrogative", "paper: T5-Review", "ours"),
        tuple(rows),
    )


def _completions(results: Sequence[Result]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name in ("java8g", "codegpt"):
        found = [r for r in results if r.task == "completion" and r.system == name and r.metrics]
        reported = f"{papers.FULL_MATCH[name]:g}"
        if not found:
            rows.append((papers.TITLES[name], reported, NOT_RUN, *[NONE] * 5))
            continue
        result = min(found, key=lambda one: (one.recipe == "tiny", -one.n))
        full = result.metrics["full_match"]
        first = (
            papers.TITLES[name],
            reported,
            f"{_percent(full['clipped'])} / {_percent(full['unclipped'])} "
            f"({result.data}{', ' + result.recipe if result.recipe else ''}, n = {result.n})",
        )
        for category, lengths in result.metrics["categories"].items():
            for length, scores in lengths.items():
                rows.append(
                    (
                        *first,
                        category,
                        length,
                        _percent(scores["dg"]),
                        _percent(scores["dg_unclipped"]),
                        _percent(scores["edit_similarity"]),
                    )
                )
    return Table(
        "Completion: DG by category",
        "Full match: share of cases with at least one wholly right suggestion, clipped / whole "
        "line. Per cent.",
        (
            "system",
            "paper: full match",
            "ours: full match",
            "category",
            "suggestion",
            "DG",
            "DG unclipped",
            "edit similarity",
        ),
        tuple(rows),
    )


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.1f}"
