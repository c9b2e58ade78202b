"""``marginalia calibrate``: derive and store thresholds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.commands.score import EncoderName, VariantName, check_choices, may_load, may_write
from bot.errors import FatalError

if TYPE_CHECKING:
    from models.crscore.encoder import Variant

app = typer.Typer(
    name="calibrate",
    help="Derive and store thresholds.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def _group() -> None:
    """Derive and store thresholds."""


@app.command("threshold")
def threshold(
    source: Annotated[
        str,
        typer.Argument(help='JSON lines of {"diff", "review"[, "claims"]}; - is standard input.'),
    ],
    out: Annotated[Path, typer.Option("--out", help="Thresholds file to write into.")],
    encoder: EncoderName = "all-MiniLM-L6-v2",
    variant: VariantName = "paper",
    rule: Annotated[str, typer.Option(help="reference or sigma.")] = "reference",
    seed: Annotated[int, typer.Option(help="Seed of the random pairs (sigma).")] = 0,
) -> None:
    """Derive an encoder's threshold from real reviews, and store it with its data's hash.

    Use it by: marginalia score --thresholds FILE.
    """
    from models.crscore.encoder import EncoderError, SentenceEncoder
    from models.crscore.rows import RowError, open_lines, read_rows
    from models.crscore.threshold import (
        ThresholdError,
        derive_reference,
        derive_sigma,
        store_threshold,
    )

    check_choices(variant, rule)
    may_load(encoder)
    may_write(str(out), source)
    side: Variant = "reference" if variant == "reference" else "paper"
    name = "standard input" if source == "-" else source
    try:
        with open_lines(source, "rb", sys.stdin.buffer) as lines:
            records = list(read_rows(lines, name))
        model = SentenceEncoder(encoder)
        if rule == "sigma":
            found = derive_sigma(model, [row["review"] for row in records], name, side, seed)
        else:
            pairs = [(row["review"], _references(row)) for row in records]
            found = derive_reference(model, pairs, name, side)
        if not -1 < found.value < 1:
            raise FatalError(
                f"{name}: the {rule} rule gives {found.value:.4f}, which no cosine exceeds: its "
                "texts are too alike; give more, of different changes"
            )
        store_threshold(out, found)
    except (RowError, EncoderError, ThresholdError) as error:
        raise FatalError(str(error)) from error
    except OSError as error:
        raise FatalError(f"{error.filename or name}: {error.strerror or error}") from error
    sys.stdout.write(f"{found.value:.4f} ({rule}, {found.pairs} pairs) -> {out}\n")


def _references(row: dict[str, Any]) -> list[str]:
    """The texts that ``marginalia score`` holds this row against."""
    from models.crscore.score import read_references

    if row.get("claims") is not None:
        return list(row["claims"])
    language = row["lang"] if isinstance(row.get("lang"), str) else ""
    return [claim.text for claim in read_references(row["diff"], language)]
