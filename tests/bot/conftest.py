"""Databases, ledger and queue for all of the bot's tests; each is made when a test asks for it."""

from tests.bot.service import (
    database_url,
    ledger,
    postgres_template,
    queue,
    settings,
    sqlite_template,
)
from tests.postgres import postgres_base

__all__ = [
    "database_url",
    "ledger",
    "postgres_base",
    "postgres_template",
    "queue",
    "settings",
    "sqlite_template",
]
