"""``marginalia data``: see all that is kept of a team, take it away, delete it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="data",
    help="See, export and delete all that was learnt and recorded.",
    no_args_is_help=True,
)
Repository = Annotated[
    str | None, typer.Option("--repo", metavar="OWNER/REPO", help="Only this repository.")
]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder for all that is kept.")]


@app.callback()
def _data() -> None:
    """See, export and delete all that was learnt and recorded."""


@app.command()
def export(
    repository: Repository = None,
    data_dir: DataDir = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything",
            help="Also diffs, whole files, and the bodies of deliveries, which name people.",
        ),
    ] = False,
) -> None:
    """Write all that is kept as JSON lines on standard output; ``kind`` says what each is."""
    import json

    from bot import claims_kept
    from bot.commands.names import checked_repository
    from bot.learn.data import exported, names_of
    from bot.service.prepare import read_settings
    from bot.store.lookup import existing_ledger, no_ledger

    checked_repository(repository, "--repo")
    settings = read_settings(**({} if data_dir is None else {"data_dir": data_dir}))
    with existing_ledger(settings) as ledger:
        if ledger is None:
            raise no_ledger(settings)
        for row in exported(ledger.database, repository, everything):
            typer.echo(json.dumps(row, ensure_ascii=False))
        names = None if repository is None else names_of(ledger.database, repository)
    for row in claims_kept.exported(settings.claims_cache, names):
        typer.echo(json.dumps(row, ensure_ascii=False))


@app.command()
def delete(
    repository: Repository = None,
    data_dir: DataDir = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Of every repository; needed without --repo.")
    ] = False,
) -> None:
    """Delete all that is kept; what was deleted is said as JSON lines on standard output.

    Which patches were reviewed stays known, and posted remarks by their fingerprints, without a
    word: nothing is posted twice. What is in use is counted as ``left``: delete again later.
    Of written claims, what is of no known repository is deleted too (``unnamed``).
    """
    import json

    from bot import claims_kept
    from bot.commands.names import checked_repository
    from bot.errors import FatalError
    from bot.jobs.queue import JobQueue
    from bot.learn.data import deleted, names_of, workflows
    from bot.learn.harvest import drop_harvest
    from bot.service.prepare import read_settings
    from bot.store.lookup import existing_ledger, no_ledger

    if (repository is None) != everything:
        raise FatalError("say what to delete: --repo OWNER/REPO, or --all")
    checked_repository(repository, "--repo")
    settings = read_settings(**({} if data_dir is None else {"data_dir": data_dir}))
    with existing_ledger(settings) as ledger:
        if ledger is None:
            raise no_ledger(settings)
        ended = workflows(ledger.database, repository)
        names = [None] if repository is None else [*names_of(ledger.database, repository)]
        for row in deleted(ledger.database, repository):
            typer.echo(json.dumps(row, ensure_ascii=False))
        queue = JobQueue(settings.database, settings.job_version, pool_size=1)
        try:
            row = {"kind": "workflow", "deleted": queue.forget(ended)}
        finally:
            queue.close()
        typer.echo(json.dumps(row))
    for name in names:
        drop_harvest(settings.data_dir, name)
    known = None if repository is None else [name for name in names if name is not None]
    for row in claims_kept.deleted(settings.claims_cache, known):
        typer.echo(json.dumps(row))
