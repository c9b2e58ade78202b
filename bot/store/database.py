"""Opening the ledger: engines, sessions, the clock, migrations.

One database holds the ledger and the job library's tables, so that a delivery and its job are
written in one transaction. SQLite runs in WAL with ``synchronous=FULL``: what was answered is on
disk. Times come from the database where there is a server, so that several machines share a clock.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import alembic.command
import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from bot.store.text import dump_json

BUSY_TIMEOUT_MS = 30_000
MIGRATIONS = Path(__file__).with_name("migrations")
_MIGRATION_LOCK = "marginalia:migrate"


class Database:
    """The ledger's engine, with read and write transactions.

    Thread-safe. ``write`` transactions are exclusive on SQLite from their first statement, so
    that what is read there stays true until the commit; on PostgreSQL ``lock`` gives the same for
    one named thing.
    """

    def __init__(self, url: str, pool_size: int = 8) -> None:
        self.url = sa.make_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite and self.url.database:
            Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
        self.engine = _engine(self.url, pool_size)
        if self.sqlite:
            event.listen(self.engine, "connect", _sqlite_explicit)
            event.listen(self.engine, "begin", _sqlite_begin)
        self._writer = self.engine.execution_options(marginalia_write=True)

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that may write; committed at the end, rolled back on an exception."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def writer(self) -> Iterator[sa.Connection]:
        """``write`` without the object mapper: for the one path where its time counts."""
        with self._writer.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that only reads: one consistent view, never in a writer's way."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    def lock(self, session: Session, name: str) -> None:
        """Hold ``name`` until the transaction's end (SQLite's writers are alone anyway)."""
        if self.sqlite:
            return
        digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
        key = int.from_bytes(digest, "big", signed=True)
        session.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))

    def now(self, session: Session) -> float:
        """The time by the clock that all machines share, in seconds since the epoch."""
        if self.sqlite:
            return time.time()
        stamp = sa.func.extract("epoch", sa.func.clock_timestamp())
        return float(session.execute(sa.select(stamp)).scalar_one())

    def migrate(self) -> None:
        """Bring the ledger's tables to this version; several processes may try at once.

        All in one transaction that is begun here: Alembic begins and ends one for each step where
        it finds none, and between two steps another process would go on from the same one.
        """
        with self._writer.begin() as connection:
            if not self.sqlite:
                digest = hashlib.blake2b(_MIGRATION_LOCK.encode(), digest_size=8).digest()
                key = int.from_bytes(digest, "big", signed=True)
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))
            config = migration_config()
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, "head")

    def is_current(self) -> bool:
        """Whether the tables are those of this version; raises SQLAlchemy's errors when away."""
        head = ScriptDirectory.from_config(migration_config()).get_current_head()
        with self.engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision() == head

    def dispose(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def said_by(error: SQLAlchemyError) -> str:
    """What the database itself said, in one line and without the statement's values."""
    lines = str(getattr(error, "orig", None) or type(error).__name__).splitlines()
    return lines[0] if lines else type(error).__name__


def migration_config() -> Config:
    """Alembic's configuration: nothing but where the migrations are."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def jobs_engine(url: str, pool_size: int = 10) -> sa.Engine:
    """The job library's own engine: with the same durability, and transactions as it wants them.

    The library begins transactions through the driver (IMMEDIATE before the first write) and
    expects foreign keys to be on.
    """
    engine = _engine(sa.make_url(url), pool_size)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_library)
    return engine


def _engine(url: sa.URL, pool_size: int) -> sa.Engine:
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            connect_args={"timeout": 30},
            json_serializer=dump_json,
        )
        event.listen(engine, "connect", _sqlite_durable)
        return engine
    return sa.create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        json_serializer=dump_json,
        connect_args={"connect_timeout": 10},
    )


def _sqlite_durable(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    _sqlite_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")


def _sqlite_wal(connection: Any) -> None:
    """Switch the file to WAL, waiting for other processes that open the same file at this moment.

    SQLite does not wait ``busy_timeout`` here: changing the journal's mode, and opening while the
    last connection elsewhere puts the log away, answer "database is locked" at once.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.01, 0.05))  # noqa: S311 - a pause is no secret


def _sqlite_explicit(connection: Any, _record: Any) -> None:
    connection.isolation_level = None


def _sqlite_library(connection: Any, _record: Any) -> None:
    connection.isolation_level = "IMMEDIATE"
    connection.execute("PRAGMA foreign_keys=ON")


def _sqlite_begin(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("marginalia_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
