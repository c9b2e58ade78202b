"""The web pages: who is signed in, the diff behind each review, and indexes for the lists."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0003"
branch_labels = None
depends_on = None

BIG = sa.BigInteger()


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "web_sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_sessions")),
    )
    op.create_index(op.f("ix_web_sessions_ends_at"), "web_sessions", ["ends_at"])
    op.create_table(
        "review_diffs",
        sa.Column("review_id", BIG, autoincrement=False, nullable=False),
        sa.Column("files", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("review_id", name=op.f("pk_review_diffs")),
    )
    op.create_index(op.f("ix_reviews_repository_id_id"), "reviews", ["repository_id", "id"])
    op.create_index(op.f("ix_jobs_created_at"), "jobs", ["created_at"])
    op.create_index(
        op.f("ix_jobs_repository_id_state_created_at"),
        "jobs",
        ["repository_id", "state", "created_at"],
    )


def downgrade() -> None:
    """Undo."""
    op.drop_index(op.f("ix_jobs_repository_id_state_created_at"), "jobs")
    op.drop_index(op.f("ix_jobs_created_at"), "jobs")
    op.drop_index(op.f("ix_reviews_repository_id_id"), "reviews")
    op.drop_table("review_diffs")
    op.drop_table("web_sessions")
