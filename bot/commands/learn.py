"""``marginalia learn``: from what people said in past reviews."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.settings import Settings
    from bot.store.ledger import Ledger

DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder for all that is kept.")]


def learn(
    repository: Annotated[
        str | None, typer.Argument(metavar="OWNER/REPO", help="A repository on GitHub.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--repo", metavar="DIR", help="Read a folder of review comments instead."),
    ] = None,
    data_dir: DataDir = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Read merged pull requests' review comments and what followed; goes on where it stopped.

    Bots, thanks and remarks that nothing followed are left out, and no names are kept. Makes a
    retrieval index, a training set and the calibration's first data.
    """
    from bot.commands.names import checked_repository
    from bot.errors import FatalError
    from bot.learn.harvest import harvest
    from bot.learn.store import Learnt, shares
    from bot.service.prepare import open_ledger, read_settings

    if (repository is None) == (export is None):
        raise FatalError("say what to learn from: OWNER/REPO, or --repo DIR with an export")
    settings = read_settings(**({} if data_dir is None else {"data_dir": data_dir}))
    checked_repository(repository, "learn")
    if export is not None and not export.exists():
        raise FatalError(f"--repo {export}: there is no such folder")
    ledger = open_ledger(settings)

    def tell(line: str) -> None:
        if not quiet:
            typer.echo(f"learn: {line}", err=True)

    try:
        before = Learnt(ledger.database).repositories()
        if export is not None:
            _from_export(ledger, export, tell)
        elif repository is not None:
            _from_github(ledger, settings, repository, tell)
        learnt = Learnt(ledger.database)
        names = [
            name
            for name, count in learnt.repositories().items()
            if count != before.get(name) or (repository or "").lower() == name.lower() or export
        ]
        for name in names:
            made = harvest(ledger.database, settings.data_dir, name)
            counts = shares(learnt.remarks(name))
            typer.echo(
                f"{name}: {counts['remarks']} remarks ({counts['suggestions']} with a suggestion), "
                f"{counts['followed']} of {counts['known']} known to be followed; index and "
                f"training set in {made.folder}"
            )
        if not names:
            typer.echo("nothing to learn from was found")
    finally:
        ledger.close()


def _from_export(ledger: Ledger, folder: Path, tell: Callable[[str], None]) -> None:
    import time
    from collections import Counter

    from bot.learn.export import batches
    from bot.learn.remarks import told as told_counts
    from bot.learn.store import Learnt

    learnt = Learnt(ledger.database)
    source = f"export:{folder.resolve()}"
    before = learnt.place(source)
    if before is not None:
        tell(f"going on behind line {before[1]} of {before[0]}")
    kept = 0
    tally: Counter[str] = Counter()
    for remarks, place, wrong in batches(folder, before, tally=tally):
        kept += learnt.put(source, remarks, place, time.time())
        for line in wrong:
            tell(line)
        tell(f"{place[0]}: {place[1]} lines read, {kept} remarks kept")
    if tally:
        tell(f"{folder}: {told_counts(tally)}")


def _from_github(
    ledger: Ledger, settings: Settings, repository: str, tell: Callable[[str], None]
) -> None:
    import time

    from bot.errors import FatalError
    from bot.github.auth import AppIdentity
    from bot.github.heads import GitHubHeads
    from bot.jobs.forge import ForgeError
    from bot.learn.github import History, installation_of, repository_ref, told
    from bot.learn.remarks import told as told_counts
    from bot.learn.store import Learnt
    from bot.review.remote import reading_identity

    identity = reading_identity(settings)
    learnt = Learnt(ledger.database)
    try:
        installation = None
        if isinstance(identity, AppIdentity):
            installation = installation_of(identity.app_api(), repository)
            if installation is None:
                raise FatalError(f"the App is not installed on {repository}")
        api = identity.api(installation)
        ref = repository_ref(api, repository, installation)
        before = learnt.place(ref.repository)
        if before is not None:
            tell(f"{ref.repository}: going on behind {told(before)}")
        kept = 0
        history = History(api, GitHubHeads(identity), ref, tell)
        for remarks, place in history.batches(before):
            kept += learnt.put(ref.repository, remarks, place, time.time())
            tell(f"{ref.repository}: {told(place)} read, {kept} remarks kept")
        if history.tally:
            tell(f"{ref.repository}: {told_counts(history.tally)}")
    except ValueError as error:
        raise FatalError(str(error)) from error
    except ForgeError as error:
        raise FatalError(
            f"{repository}: {error}: what was read is kept; run the same command to go on"
        ) from error
