"""``marginalia train``: make the shipped checkpoint, or go on with one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def train(
    folder: Annotated[
        Path, typer.Option("--out", help="The run's folder; goes on where it holds one.")
    ],
    data: Annotated[
        Path | None, typer.Option(help="The data sets' folder; default: MARGINALIA_DATA.")
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FOLDER|HUB_ID",
            help="Start from a checkpoint of ours or a published T5, as Salesforce/codet5-base.",
        ),
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Time in steps, in all.")] = 120,
    seed: Annotated[int, typer.Option(help="Fixes weights and the order of examples.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads.")] = None,
    tokens: Annotated[int, typer.Option(min=256, help="Source tokens a batch.")] = 8192,
    rate: Annotated[
        float, typer.Option(min=0, help="Peak rate, relative to a weight's size.")
    ] = 0.015,
    longest: Annotated[
        tuple[int, int], typer.Option(help="Longest source and answer in tokens.")
    ] = (256, 72),
    mixture: Annotated[
        str, typer.Option(help="What to train on: default, or abstracted (Trans-Review alone).")
    ] = "default",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Records a file of `edits`, for a quick trial.")
    ] = None,
) -> None:
    """Train a line-edit model on the data sets; the best checkpoint is OUT/best.

    Writes its state every ten minutes and goes on from it when called again. Exit codes: 0 done,
    2 wrong input.
    """
    from bot.errors import FatalError
    from models.training.mixture import MIXTURES
    from models.training.trainer import TrainOptions
    from models.training.trainer import train as run

    if data is None:
        named = os.environ.get("MARGINALIA_DATA")
        if not named:
            raise FatalError("no data: give --data or set MARGINALIA_DATA to the data sets' folder")
        data = Path(named)
    if mixture not in MIXTURES:
        raise FatalError(f"no mixture {mixture!r}: choose of {', '.join(MIXTURES)}")
    options = TrainOptions(
        data=data,
        folder=folder,
        start_from=start_from,
        minutes=minutes,
        seed=seed,
        threads=threads,
        tokens=tokens,
        rate=rate,
        limit=limit,
        mixture=mixture,
        longest_source=longest[0],
        longest_answer=longest[1],
    )
    try:
        run(options, typer.echo)
    except (FileNotFoundError, ValueError) as error:
        raise FatalError(str(error)) from error
