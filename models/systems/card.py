"""The task card: what a checkpoint was fine-tuned for. Without one, weights are not used.

A language model that only fills spans answers every request with something; a card beside the
weights (``task_card.json``) says which system they belong to, which task they answer and how they
were made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.tasks import Task

if TYPE_CHECKING:
    from models.systems.base import FitReport

CARD_FILE = "task_card.json"


class UnusableCheckpoint(ValueError):
    """A checkpoint that cannot review; the message is one line: what, and what to do."""


@dataclass(frozen=True, slots=True)
class TaskCard:
    """What stands in ``task_card.json``.

    ``details`` are the system's own (recipe, vocabulary size, format); ``report`` is what the fit
    measured; ``trained_on`` names the data.
    """

    system: str
    task: Task
    trained_on: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    report: FitReport | None = None
    made: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())


def write_card(folder: Path, card: TaskCard) -> None:
    """Write the card, and a README.md that says the same to people."""
    text = json.dumps(asdict(card), indent=2, sort_keys=True) + "\n"
    (folder / CARD_FILE).write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(_readme(card), encoding="utf-8")


def read_card(folder: Path) -> TaskCard:
    """Read a folder's card.

    Raises UnusableCheckpoint, with the command that fine-tunes the weights, where there is none.
    """
    if not folder.is_dir():
        raise UnusableCheckpoint(f"{folder}: no such folder; give a checkpoint's folder")
    path = folder / CARD_FILE
    if not path.exists():
        raise no_card(str(folder))
    from models.systems.base import FitReport

    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        report = row.get("report")
        return TaskCard(
            system=row["system"],
            task=Task(row["task"]),
            trained_on=row.get("trained_on", ""),
            details=row.get("details", {}),
            report=FitReport(**report) if report else None,
            made=row.get("made", ""),
        )
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise UnusableCheckpoint(
            f"{path}: not a task card ({type(error).__name__}); fit the checkpoint again"
        ) from error


def no_card(name: str) -> UnusableCheckpoint:
    """The refusal of weights that were never fine-tuned for a task."""
    return UnusableCheckpoint(
        f"{name}: no task card, so these weights only fill spans and cannot review; "
        f"fine-tune them with: marginalia train --from {name}"
    )


def _readme(card: TaskCard) -> str:
    lines = [
        f"# {card.system}, {card.task}",
        "",
        f"Made on {card.made}. Trained on: {card.trained_on or 'not stated'}.",
        "",
    ]
    if card.report is not None:
        lines += [
            f"{card.report.examples} examples, {card.report.steps} steps, "
            f"{card.report.seconds:.0f} s; training loss {card.report.loss:.4f}.",
            "",
        ]
    lines += ["| setting | value |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in sorted(card.details.items())]
    return "\n".join(lines) + "\n"
