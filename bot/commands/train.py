"""``marginalia train``: make the shipped checkpoint, or go on with one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.errors import FatalError

if TYPE_CHECKING:
    from models.training.progress import Position, Show

_OF_A_RUN = ("state.pt", "tokenizer.json", "log.jsonl")
"""What tells a run's folder: a run that was killed early has no state yet."""
REQUESTS = "requests"
"""The mixture of another trainer (``models.training.fit_requests``)."""
_SHORTEST = (64, 16)
"""Tokens of source and answer: with fewer a search for examples that fit would hardly end."""


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
    grow: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="BLOCKS UNITS",
            help="Enlarge it first: blocks to add to each stack, and feed-forward units.",
        ),
    ] = None,
    widen: Annotated[
        bool, typer.Option("--widen", help="Double its width first, its answers being the same.")
    ] = False,
    minutes: Annotated[float, typer.Option(min=0.01, help="Time in steps, in all.")] = 120,
    seed: Annotated[int, typer.Option(help="Fixes weights and the order of examples.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads.")] = None,
    tokens: Annotated[int, typer.Option(min=256, help="Source tokens a batch.")] = 8192,
    rate: Annotated[
        float, typer.Option(min=0, help="Peak rate, relative to a weight's size.")
    ] = 0.015,
    dropout: Annotated[
        float, typer.Option(min=0, max=0.9, help="Share of activations dropped in training.")
    ] = 0.0,
    longest: Annotated[
        tuple[int, int], typer.Option(help="Longest source and answer in tokens.")
    ] = (256, 72),
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="So many steps in place of the time: equal runs, equal weights."),
    ] = None,
    mixture: Annotated[
        str,
        typer.Option(
            help="What to train on: default, abstracted (Trans-Review's dialect), "
            "abstracted_before (CRB alone in it), said (what "
            "comment led to a revision, in that dialect; give --longest 320 90), or claims (a "
            "claim generator; give --longest 256 130), or requests (a difference to SmolLM2 that "
            "answers comments in every language; --steps alone says how long)."
        ),
    ] = "default",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Records a file of `edits`, for a quick trial.")
    ] = None,
) -> None:
    """Train a line-edit model on the data sets; the best checkpoint is OUT/best.

    Writes its state every ten minutes and goes on from it when called again; a bar with loss,
    validation and time left is shown on a terminal, and the chart of the losses is OUT/loss.svg.
    Exit codes: 0 done, 2 wrong input.
    """
    if data is None:
        named = os.environ.get("MARGINALIA_DATA")
        if not named:
            raise FatalError("no data: give --data or set MARGINALIA_DATA to the data sets' folder")
        data = Path(named)
    _check(folder, data, longest)
    from models.training.mixture import MIXTURES

    if mixture not in (*MIXTURES, REQUESTS):
        raise FatalError(f"no mixture {mixture!r}: choose of {', '.join(MIXTURES)}, {REQUESTS}")
    if mixture == REQUESTS:
        others = {"--from": start_from, "--grow": grow, "--widen": widen or None, "--limit": limit}
        if unused := [name for name, value in others.items() if value is not None]:
            raise FatalError(f"{unused[0]}: not for {REQUESTS}, which has its own base model")
        _train_requests(data, folder, steps, seed)
        return
    from transformers.utils import logging as transformers_logging

    from models.training.trainer import TrainOptions
    from models.training.trainer import train as run

    transformers_logging.disable_progress_bar()  # loading and writing weights, also in a log
    options = TrainOptions(
        data=data,
        folder=folder,
        start_from=start_from,
        grow=grow,
        widen=widen,
        minutes=minutes,
        seed=seed,
        threads=threads,
        tokens=tokens,
        rate=rate,
        dropout=dropout,
        limit=limit,
        steps=steps,
        mixture=mixture,
        longest_source=longest[0],
        longest_answer=longest[1],
    )
    new = not folder.exists()
    try:
        with _bar() as show:
            run(options, typer.echo, show)
    except FileNotFoundError as error:
        _leave(folder, new)
        lacks = f"{error.filename}: no such file" if error.filename else str(error)
        raise FatalError(f"{lacks}; give the data sets' folder by --data") from error
    except OSError as error:
        _leave(folder, new)
        raise FatalError(f"{error.filename or folder}: {error.strerror or error}") from error
    except ValueError as error:
        _leave(folder, new)
        raise FatalError(str(error)) from error


def _train_requests(data: Path, folder: Path, steps: int | None, seed: int) -> None:
    from models.generators.base import GeneratorError
    from models.training import fit_requests

    new = not folder.exists()
    try:
        with _bar() as show:
            fit_requests.train(data, folder, steps or fit_requests.STEPS, seed, show)
    except FileNotFoundError as error:
        _leave(folder, new)
        raise FatalError(
            f"{error.filename}: no such file; give the data sets' folder by --data"
        ) from error
    except GeneratorError as error:
        _leave(folder, new)
        raise FatalError(str(error)) from error


def _check(folder: Path, data: Path, longest: tuple[int, int]) -> None:
    """Refuse at once what would fail, run for ever, or write over what is no run."""
    if not data.is_dir():
        raise FatalError(f"{data}: no such folder; give the data sets' folder by --data")
    if folder.exists() and not folder.is_dir():
        raise FatalError(f"--out {folder}: a file; name a folder")
    run = folder.is_dir() and any((folder / name).exists() for name in _OF_A_RUN)
    if folder.is_dir() and not run and any(folder.iterdir()):
        raise FatalError(f"--out {folder}: holds other files and no run; name another folder")
    if longest[0] < _SHORTEST[0] or longest[1] < _SHORTEST[1]:
        raise FatalError(
            f"--longest {longest[0]} {longest[1]}: hardly an example is so short; "
            f"give {_SHORTEST[0]} {_SHORTEST[1]} or more"
        )


def _leave(folder: Path, new: bool) -> None:
    """Take away the folder that a refused run has made, where nothing is in it."""
    if new and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


@contextmanager
def _bar() -> Iterator[Show | None]:
    """A bar with loss, validation and time left on standard error, where a person looks at it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = "step {task.fields[step]} ({task.fields[stage]}), {task.fields[losses]}, "
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TextColumn(columns + "{task.fields[left]} left"),
        console=Console(stderr=True),
    )
    task = bar.add_task("", total=1.0, step=0, stage="start", losses="no loss yet", left="?")

    def show(at: Position) -> None:
        checked = "" if at.validation is None else f", validation {at.validation:.3f}"
        minutes, seconds = divmod(int(min(at.seconds_left, 359_999)), 60)
        bar.update(
            task, completed=at.share, step=at.step, stage=at.stage,
            losses=f"loss {at.loss:.3f}{checked}", left=f"{minutes}:{seconds:02}",
        )  # fmt: skip

    with bar:
        yield show
