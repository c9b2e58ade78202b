"""``marginalia bench``: score predictions, run a system on data, print the papers' tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="bench",
    help="Score predictions and run the systems on data sets.",
    no_args_is_help=True,
    add_completion=False,
)


def fail(message: str) -> typer.Exit:
    """Say what is wrong, on one line of standard error; raise the result to leave with 2."""
    typer.echo(f"marginalia bench: {message}", err=True)
    return typer.Exit(2)


@app.callback()
def _group() -> None:
    """Score predictions and run the systems on data sets."""


@app.command("metrics")
def metrics(
    predictions: Annotated[
        Path,
        typer.Option(
            "--predictions",
            help='JSON lines of {"source", "target", "prediction"}; tokens apart by white space.',
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score stored predictions: exact match, Edit Progress, BLEU, similarity, DG and the rest."""
    from models.metrics.report import PredictionsError, evaluate, read_predictions

    try:
        records = read_predictions(predictions)
    except PredictionsError as error:
        raise fail(str(error)) from error
    result = evaluate(records)
    if as_json:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
    else:
        print_metrics(result)


def print_metrics(result: dict[str, Any]) -> None:
    """Print the answer of ``evaluate`` for a person: per cent, one metric a line."""
    for name, value in _rows(result):
        typer.echo(f"{name:<34} {value}")
    typer.echo("")
    for signature in result["signatures"].values():
        typer.echo(signature)


_COUNTS = frozenset({"n", "distance"})


def _rows(result: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in result.items():
        if key == "signatures":
            continue
        if isinstance(value, dict):
            rows += _rows(value, f"{prefix}{key}.")
        elif value is None:
            rows.append((prefix + key, "n/a"))
        elif key in _COUNTS:
            rows.append((prefix + key, f"{value:g}"))
        else:
            rows.append((prefix + key, f"{100 * value:.2f} %"))
    return rows
