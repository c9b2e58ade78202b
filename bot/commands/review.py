"""``marginalia review``: the road from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def review(
    range_text: Annotated[
        str | None,
        typer.Argument(
            metavar="[RANGE]",
            help="A..B, A...B or a commit (to HEAD). Default: what is new on this branch.",
        ),
    ] = None,
    repo: Annotated[Path, typer.Option(help="The git repository.")] = Path(),
    diff: Annotated[
        str | None, typer.Option(help="Review a unified diff file instead; - is standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="List every candidate with scores and verdict.")
    ] = False,
    max_comments: Annotated[int, typer.Option(min=0, help="At most so many comments.")] = 10,
    sure: Annotated[
        float,
        typer.Option(min=0, max=1, help="How sure to be; at 0 only the safety gate stands."),
    ] = 0.5,
    no_model: Annotated[bool, typer.Option("--no-model", help="Analyzers only.")] = False,
    model: Annotated[
        str | None, typer.Option(help="Folder or Hub id of a model; default: the shipped one.")
    ] = None,
) -> None:
    """Review a change and print what passes the gate.

    Exit codes: 0 reviewed (whatever was found), 2 wrong input.
    """
    from bot.errors import FatalError
    from bot.review.local import load_pipeline, read_change, with_progress

    if as_json and markdown:
        raise FatalError("--json and --markdown exclude each other: give one of them")
    if diff is not None and range_text is not None:
        raise FatalError("--diff and a range exclude each other: give one of them")
    from bot.review.types import ReviewOptions

    options = ReviewOptions(sure=sure, max_comments=max_comments, use_model=not no_model)
    with read_change(repo, range_text, diff) as (change, sources):
        if not change.files:
            sys.stderr.write("marginalia: nothing changed in this range\n")
        with with_progress() as progress:
            progress("loading", 0, 1)
            pipeline = load_pipeline(model=model, use_model=not no_model)
            result = pipeline.review(change, sources, options, progress)
    if as_json:
        from bot.review.output_json import to_json

        sys.stdout.write(to_json(result, explain=explain))
    elif markdown:
        from bot.review.output_markdown import to_markdown

        sys.stdout.write(to_markdown(result, explain=explain))
    else:
        from rich.console import Console

        from bot.review.output_terminal import to_terminal

        to_terminal(result, Console(highlight=False), explain=explain)
