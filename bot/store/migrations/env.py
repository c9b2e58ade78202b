"""Runs the migrations on the connection that ``Database.migrate`` gives."""

from alembic import context
from sqlalchemy import Connection

from bot.store.tables import Base

connection: Connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
)
# No transaction of its own: the caller's, which also holds the lock, covers all of it.
context.run_migrations()
