"""One run of one system on one data set: predictions, and their scores where there are targets."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from models.metrics.report import evaluate
from models.systems.base import System
from models.tasks import Example, Prediction, Task, records, source_of


@dataclass(frozen=True, slots=True)
class Result:
    """What a run measured; a JSON file of it fills a row of ``bench table``.

    ``data`` names the data set, ``recipe`` the recipe (``tiny`` marks a run that proves nothing),
    ``checkpoint`` the weights. ``metrics`` has the form of ``models.metrics.evaluate`` and is
    empty where the data have no targets. ``seconds`` is the time of the predictions alone.
    """

    system: str
    task: str
    data: str
    n: int
    metrics: Mapping[str, Any] = field(default_factory=dict)
    recipe: str = ""
    checkpoint: str = ""
    beams: int = 1
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """As JSON; empty metrics are ``null``."""
        row = asdict(self)
        row["metrics"] = row["metrics"] or None
        return row


class ResultError(ValueError):
    """A result file that cannot be read; one line for a person."""


def run_system(
    system: System,
    task: Task,
    examples: Sequence[Example],
    data: str,
    name: str = "",
    recipe: str = "",
    checkpoint: str = "",
    beams: int = 1,
) -> tuple[Result, list[Prediction]]:
    """Ask ``system`` for every example and score what has a target."""
    began = time.monotonic()
    predictions = system.predict(examples, beams)
    seconds = time.monotonic() - began
    scored = records(task, examples, predictions)
    result = Result(
        name or system.kind,
        task.value,
        data,
        len(examples),
        evaluate(scored) if scored else {},
        recipe,
        checkpoint,
        beams,
        round(seconds, 2),
    )
    return result, predictions


def write_predictions(
    path: Path, task: Task, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> None:
    """Write ``{"source", "prediction"}`` a record in the input's order, as JSON lines.

    Gzipped where the name ends in .gz. Raises OSError where the file cannot be written.
    """
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="\n") as lines:
        for example, prediction in zip(examples, predictions, strict=True):
            row: dict[str, Any] = {
                "source": source_of(task, example),
                "prediction": prediction.text,
            }
            if len(prediction.ranked) > 1:
                row["predictions"] = list(prediction.ranked)
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_results(folder: Path) -> list[Result]:
    """The results of every ``*.json`` file in a folder, by name. Raises ResultError."""
    results: list[Result] = []
    for path in sorted(folder.glob("*.json")):
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
            row["metrics"] = row.get("metrics") or {}
            results.append(Result(**row))
        except (json.JSONDecodeError, UnicodeDecodeError, TypeError, AttributeError) as error:
            raise ResultError(
                f"{path}: not a result; make it with marginalia bench run --result-out"
            ) from error
    return results


def shipped_results() -> Path:
    """The folder of results that ship with the program."""
    return Path(__file__).with_name("results")
