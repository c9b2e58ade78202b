"""Candidates that wait for a person, and the lines that each comment is about."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
BIG = sa.BigInteger()
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "feedback_anchors",
        sa.Column("comment_id", BIG, autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("start_line", BIG, nullable=False),
        sa.Column("line", BIG, nullable=False),
        sa.Column("suggestion", JSON, nullable=True),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name=op.f("pk_feedback_anchors")),
    )
    op.create_table(
        "approvals",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("comment_id", BIG, nullable=False),
        sa.Column("candidate_id", BIG, nullable=True),
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("repository_key", sa.Text(), nullable=False),
        sa.Column("installation_id", BIG, nullable=True),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("start_line", BIG, nullable=False),
        sa.Column("line", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("suggestion", sa.Text(), nullable=True),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("before_start", BIG, nullable=False),
        sa.Column("con", sa.Double(), nullable=False),
        sa.Column("comp", sa.Double(), nullable=False),
        sa.Column("rel", sa.Double(), nullable=False),
        sa.Column("judge", sa.Double(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("sure", sa.Double(), nullable=False),
        sa.Column("grounds", JSON, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.Column("batch", sa.Text(), nullable=False),
        sa.Column("posted_id", BIG, nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
        sa.UniqueConstraint("comment_id", name=op.f("uq_approvals_comment_id")),
    )
    op.create_index(
        op.f("ix_approvals_state_repository_key_id"),
        "approvals",
        ["state", "repository_key", "id"],
    )
    op.create_index(op.f("ix_approvals_repository_id_pull"), "approvals", ["repository_id", "pull"])


def downgrade() -> None:
    """Undo."""
    op.drop_table("approvals")
    op.drop_table("feedback_anchors")
