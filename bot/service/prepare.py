"""What every process does before it serves: logs, folders, database."""

from __future__ import annotations

import os
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from bot import logs
from bot.errors import FatalError
from bot.jobs.queue import migrate_queue
from bot.metrics_export import SHARED_FOLDER
from bot.settings import Settings, SettingsError, load
from bot.store.ledger import Ledger


def read_settings(kind: type[Settings] = Settings, /, **overrides: object) -> Settings:
    """The settings (see ``load``), with logs set up as they say; raises ``FatalError``."""
    try:
        settings = load(kind, **overrides)
        settings.check_database()
    except SettingsError as error:
        raise FatalError(str(error)) from error
    logs.set_up(settings.log_level, settings.log_json)
    return settings


def make_folder(folder: Path) -> None:
    """The data folder, readable by its owner alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise FatalError(f"MARGINALIA_DATA_DIR: cannot make {folder}: {error.strerror}") from error


def share_metrics(folder: Path) -> None:
    """Make this process and its children count into one folder, emptied first.

    Must come before the first counter is made.
    """
    shared = folder / "metrics"
    try:
        shared.mkdir(parents=True, exist_ok=True)
        for old in shared.glob("*.db"):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise FatalError(
            f"MARGINALIA_DATA_DIR: {shared}: {error.strerror}: give a folder to write in"
        ) from error
    os.environ[SHARED_FOLDER] = str(shared)


def open_ledger(settings: Settings) -> Ledger:
    """The ledger, brought to this version with the queue's tables; raises ``FatalError``."""
    if not settings.database_url:
        make_folder(settings.data_dir)
    where = sa.make_url(settings.database).render_as_string(hide_password=True)
    # a file in the data folder has not been named by this setting
    setting = "MARGINALIA_DATABASE_URL" if settings.database_url else "MARGINALIA_DATA_DIR"
    try:
        ledger = Ledger(settings.database)
    except OSError as error:
        raise FatalError(
            f"{setting}: {where}: its folder cannot be made: {error.strerror}"
        ) from error
    try:
        # The queue's tables come first: who finds the ledger current may use both.
        if not ledger.database.is_current():
            migrate_queue(settings.database)
            ledger.migrate()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).splitlines()[0]
        raise FatalError(f"{setting}: {where}: {reason}") from error
    return ledger
