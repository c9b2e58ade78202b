"""Tables in Markdown: systems with mean scores, and agreement with people beside baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.crscore.agreement import (
    Numbers,
    bootstrap,
    kendall,
    partial_spearman,
    spearman,
    system_agreement,
)
from models.crscore.baselines import REFERENCE_BASELINES, bert_scores


class TableError(ValueError):
    """The rows lack what a table needs; one line says what."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the fields that a table reads; ``group`` "" groups by the diff's text."""

    human: str = "human"
    group: str = ""
    system: str = "system"
    language: str = "lang"
    reference_system: str = "msg"


def system_table(rows: Sequence[dict[str, Any]], system: str = "system") -> str:
    """Mean Con, Comp, Rel (and the F of means) and judge of each system, best Rel first."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(str(row.get(system, "(all)")), []).append(row)
    lines = [
        "| system | reviews | Con | Comp | Rel | F of means | judge |",
        "|---|---|---|---|---|---|---|",
    ]
    table = []
    for name, members in groups.items():
        con, comp, rel = (
            float(np.mean([row[key] for row in members])) for key in ("con", "comp", "rel")
        )
        judged = [row["judge"] for row in members if row.get("judge") is not None]
        both = 2 * con * comp / (con + comp) if con + comp else 0.0
        table.append((name, len(members), con, comp, rel, both, judged))
    for name, count, con, comp, rel, both, judged in sorted(table, key=lambda r: (-r[4], r[0])):
        mean = f"{np.mean(judged):.3f}" if judged else ""
        lines.append(
            f"| {_cell(name)} | {count} | {con:.3f} | {comp:.3f} | {rel:.3f} | {both:.3f} "
            f"| {mean} |"
        )
    return "\n".join(lines)


def agreement_table(
    rows: Sequence[dict[str, Any]],
    fields: Fields,
    samples: int = 1000,
    bert_encoder: str = "",
) -> str:
    """Spearman and Kendall of the scores and of baselines with people, intervals by diff.

    Baselines that need a reference review take the row's ``reference``, or the review of the
    reference system for the same diff, and stand only on rows that have one (other than itself).
    Raises ``TableError`` where fewer than 3 rows have people's scores.
    """
    rows = [row for row in rows if isinstance(row.get(fields.human), int | float)]
    if len(rows) < 3:
        raise TableError(
            f"{len(rows)} rows have a number in field {fields.human!r}; "
            "name the field with people's scores by --human"
        )
    human = np.array([row[fields.human] for row in rows], dtype=np.float64)
    groups = [_group(row, fields.group) for row in rows]
    scores: dict[str, Numbers] = {"CRScore Rel": _column(rows, "rel")}
    if all(row.get("judge") is not None for row in rows):
        scores = {"judge": _column(rows, "judge"), **scores}
    scores["Con"], scores["Comp"] = _column(rows, "con"), _column(rows, "comp")
    scores["length"] = np.array([len(row["review"]) for row in rows], dtype=np.float64)
    lines = [
        "| score | rows | Spearman | Kendall | length held by people's score |",
        "|---|---|---|---|---|",
    ]
    every = np.arange(len(rows))
    for name, values in scores.items():
        lines.append(_line(name, values, human, scores["length"], groups, every, samples))
    lines += _reference_lines(rows, fields, human, scores["length"], groups, samples, bert_encoder)
    lines += _part_lines(rows, fields, human, scores, groups, samples)
    return "\n".join(lines)


def _group(row: dict[str, Any], field: str) -> str:
    value = row.get(field) if field else None
    return row["diff"] if value is None or value == "" else str(value)


def _cell(text: str) -> str:
    """A name in a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def _column(rows: Sequence[dict[str, Any]], key: str) -> Numbers:
    return np.array([row[key] for row in rows], dtype=np.float64)


def _line(
    name: str,
    values: Numbers,
    human: Numbers,
    length: Numbers,
    groups: Sequence[str],
    keep: np.ndarray,
    samples: int,
) -> str:
    owners = [groups[i] for i in keep]
    rank = bootstrap(spearman, values, human[keep], owners, samples)
    # Kendall is the slow one: a fifth of the samples bounds it well enough for two decimals
    tau = bootstrap(kendall, values, human[keep], owners, max(10, samples // 5))
    held = partial_spearman(values, length[keep], human[keep]) if name != "length" else 1.0
    return f"| {name} | {len(keep)} | {rank} | {tau} | {held:.3f} |"


def _reference_lines(
    rows: Sequence[dict[str, Any]],
    fields: Fields,
    human: Numbers,
    length: Numbers,
    groups: Sequence[str],
    samples: int,
    bert_encoder: str,
) -> list[str]:
    known = {
        group: row["review"]
        for group, row in zip(groups, rows, strict=True)
        if row.get(fields.system) == fields.reference_system
    }
    pairs: list[tuple[int, str]] = []
    for i, (group, row) in enumerate(zip(groups, rows, strict=True)):
        reference = row.get("reference")
        if reference is None and row.get(fields.system) != fields.reference_system:
            reference = known.get(group)
        if isinstance(reference, str) and reference.strip():
            pairs.append((i, reference))
    if len(pairs) < 3:
        return [
            f"\nNo reference reviews (system {fields.reference_system!r} or field 'reference')."
        ]
    keep = np.array([i for i, _ in pairs])
    columns = {
        name: np.array([measure(rows[i]["review"], text) for i, text in pairs])
        for name, measure in REFERENCE_BASELINES.items()
    }
    if bert_encoder:
        from models.crscore.encoder import SentenceEncoder

        encoder = SentenceEncoder(bert_encoder)
        reviews = [rows[i]["review"] for i in keep]
        columns["BERTScore"] = np.array(bert_scores(encoder, reviews, [text for _, text in pairs]))
    return [
        _line(name, values, human, length, groups, keep, samples)
        for name, values in columns.items()
    ]


def _part_lines(
    rows: Sequence[dict[str, Any]],
    fields: Fields,
    human: Numbers,
    scores: dict[str, Numbers],
    groups: Sequence[str],
    samples: int,
) -> list[str]:
    shown = [name for name in ("judge", "CRScore Rel") if name in scores]
    systems = [str(row.get(fields.system, "")) for row in rows]
    parts: list[tuple[str, np.ndarray]] = []
    for title, values in (
        ("language", [str(row.get(fields.language, "")) for row in rows]),
        ("system", systems),
    ):
        owner = np.array(values)
        if len(set(values)) > 1:
            parts += [(f"{title} {n}", np.flatnonzero(owner == n)) for n in sorted(set(values))]
    without = np.flatnonzero(np.array(systems) != fields.reference_system)
    if 3 <= len(without) < len(rows):
        parts.append((f"without {fields.reference_system}", without))
    lines = ["", "| rows | " + " | ".join(shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for title, keep in parts:
        owners = [groups[i] for i in keep]
        cells = [
            str(bootstrap(spearman, scores[name][keep], human[keep], owners, samples))
            for name in shown
        ]
        lines.append(f"| {_cell(title)} ({len(keep)}) | " + " | ".join(cells) + " |")
    if len(set(systems)) > 2:
        cells = [f"{system_agreement(scores[n], human, systems):.3f}" for n in shown]
        lines.append("| ranking of systems by mean | " + " | ".join(cells) + " |")
    return lines
