from tests.bot.feedback.conftest import github
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
    "github",
    "ledger",
    "postgres_base",
    "postgres_template",
    "queue",
    "settings",
    "sqlite_template",
]
