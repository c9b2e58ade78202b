"""``marginalia feedback``: what became of the comments, and what the program learnt from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="feedback",
    help="What became of the comments, and what was learnt from it.",
    no_args_is_help=True,
)


@app.callback()
def _feedback() -> None:
    """What became of the comments, and what was learnt from it."""


@app.command()
def report(
    repository: Annotated[
        str | None,
        typer.Option("--repo", metavar="OWNER/NAME", help="Only this repository."),
    ] = None,
    sure: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="How sure; else as configured."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON value.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder for all that is kept.")
    ] = None,
) -> None:
    """Acceptance by origin, rule, language and month; calibration; the last month again."""
    import json
    import time

    from bot.errors import FatalError
    from bot.feedback.ledger import Feedback
    from bot.feedback.report import DAYS_30, as_text, make_report
    from bot.feedback.report import as_json as to_json
    from bot.kept_config import choices_of, kept_config, operator_layer
    from bot.service.prepare import read_settings
    from bot.store.lookup import existing_ledger, no_ledger

    settings = read_settings(**({} if data_dir is None else {"data_dir": data_dir}))
    with existing_ledger(settings) as ledger:
        if ledger is None:
            raise no_ledger(settings)
        feedback = Feedback(ledger.database)
        number = None
        config = operator_layer(settings)[0]
        if repository is not None:
            number = feedback.repository(repository)
            if number is None:
                raise FatalError(
                    f"--repo {repository}: no comment in the ledger has an outcome there: check "
                    "the name, or wait until the first pull request with a review is closed"
                )
            # what the repository itself says of rules and of "sure", as its last review read it
            config = kept_config(ledger.memory, settings, number, repository)
        now = time.time()
        made = make_report(
            feedback.outcomes(number),
            feedback.held_back(number, now - DAYS_30, now),
            now,
            config.sure if sure is None else sure,
            choices_of(config),
        )
    if as_json:
        typer.echo(json.dumps(to_json(made), indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(as_text(made)))
