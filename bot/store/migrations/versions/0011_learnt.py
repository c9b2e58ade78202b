"""What was learnt from history."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

BIG = sa.BigInteger()
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "learnt_remarks",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("repository_key", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("line", BIG, nullable=True),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("diff_hunk", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("followed", sa.Boolean(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learnt_remarks")),
        sa.UniqueConstraint(
            "repository_key", "key", name=op.f("uq_learnt_remarks_repository_key_key")
        ),
    )


def downgrade() -> None:
    """Undo."""
    op.drop_table("learnt_remarks")
