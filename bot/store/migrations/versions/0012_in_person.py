"""What posts an accepted candidate in a person's name, sealed."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "approvals", sa.Column("sealed", sa.Text(), nullable=False, server_default=sa.text("''"))
    )


def downgrade() -> None:
    """Undo."""
    op.drop_column("approvals", "sealed")
