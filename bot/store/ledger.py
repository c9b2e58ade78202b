"""The ledger as one thing: a database and everything kept in it."""

from __future__ import annotations

from bot.store.database import Database
from bot.store.deliveries import Deliveries
from bot.store.jobs import Jobs
from bot.store.memory import Memory
from bot.store.reviews import Reviews
from bot.store.workers import Workers


class Ledger:
    """Open with a SQLAlchemy URL (``Settings.database``); share one between threads."""

    def __init__(self, url: str, pool_size: int = 8) -> None:
        self.database = Database(url, pool_size)
        self.deliveries = Deliveries(self.database)
        self.jobs = Jobs(self.database)
        self.reviews = Reviews(self.database)
        self.memory = Memory(self.database)
        self.workers = Workers(self.database)

    def migrate(self) -> None:
        """Bring the ledger's tables to this version."""
        self.database.migrate()

    def close(self) -> None:
        """Close every connection."""
        self.database.dispose()
