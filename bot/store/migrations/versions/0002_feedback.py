"""What became of each comment."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
BIG = sa.BigInteger()
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "feedback_events",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("comment_id", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("holds", sa.Boolean(), nullable=False),
        sa.Column("by_person", sa.Boolean(), nullable=False),
        sa.Column("followed", JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback_events")),
        sa.UniqueConstraint(
            "comment_id",
            "kind",
            "at",
            "key",
            "holds",
            "by_person",
            name=op.f("uq_feedback_events_comment_id_kind_at_key_holds_by_person"),
        ),
    )
    op.create_table(
        "feedback_outcomes",
        sa.Column("comment_id", BIG, nullable=False),
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("installation_id", BIG, nullable=True),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("prior", sa.Double(), nullable=False),
        sa.Column("rel", sa.Double(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("posted_at", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("edit_progress", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name=op.f("pk_feedback_outcomes")),
    )
    op.create_index(
        op.f("ix_feedback_outcomes_installation_id"), "feedback_outcomes", ["installation_id"]
    )
    op.create_index(
        op.f("ix_feedback_outcomes_repository_id_final"),
        "feedback_outcomes",
        ["repository_id", "final"],
    )


def downgrade() -> None:
    """Undo."""
    op.drop_table("feedback_outcomes")
    op.drop_table("feedback_events")
