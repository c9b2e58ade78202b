"""The ledger's first shape."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
BIG = sa.BigInteger()
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "candidates",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("review_id", BIG, nullable=False),
        sa.Column("rank", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("start_line", BIG, nullable=False),
        sa.Column("line", BIG, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("replacement", JSON, nullable=True),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("weakest", sa.Double(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("con", sa.Double(), nullable=False),
        sa.Column("comp", sa.Double(), nullable=False),
        sa.Column("rel", sa.Double(), nullable=False),
        sa.Column("judge", sa.Double(), nullable=True),
        sa.Column("similarity", sa.Double(), nullable=False),
        sa.Column("nearest", JSON, nullable=True),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidates")),
    )
    op.create_index(op.f("ix_candidates_fingerprint"), "candidates", ["fingerprint"])
    op.create_index(op.f("ix_candidates_reason"), "candidates", ["reason"])
    op.create_index(op.f("ix_candidates_review_id"), "candidates", ["review_id"])

    op.create_table(
        "comments",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("review_id", BIG, nullable=False),
        sa.Column("candidate_id", BIG, nullable=True),
        sa.Column("position", BIG, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("start_line", BIG, nullable=True),
        sa.Column("line", BIG, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("moved", sa.Boolean(), nullable=False),
        sa.Column("github_id", BIG, nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comments")),
    )
    op.create_index(op.f("ix_comments_fingerprint"), "comments", ["fingerprint"])
    op.create_index(op.f("ix_comments_github_id"), "comments", ["github_id"])
    op.create_index(op.f("ix_comments_review_id"), "comments", ["review_id"])

    op.create_table(
        "deliveries",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("guid", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("installation_id", BIG, nullable=True),
        sa.Column("repository_id", BIG, nullable=True),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("pull", BIG, nullable=True),
        sa.Column("headers", JSON, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("body_sha256", sa.Text(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("handled_at", sa.Double(), nullable=True),
        sa.Column("redeliveries", BIG, nullable=False),
        sa.Column("dispatch", BIG, nullable=False),
        sa.Column("tries", BIG, nullable=False),
        sa.Column("defers", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("target", "guid", name=op.f("uq_deliveries_target_guid")),
    )
    op.create_index(op.f("ix_deliveries_body_sha256"), "deliveries", ["body_sha256"])
    op.create_index(op.f("ix_deliveries_received_at"), "deliveries", ["received_at"])
    op.create_index(op.f("ix_deliveries_state"), "deliveries", ["state"])

    op.create_table(
        "dismissals",
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "fingerprint", name=op.f("pk_dismissals")),
    )
    op.create_table(
        "holds",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_holds")),
    )
    op.create_table(
        "installations",
        sa.Column("id", BIG, autoincrement=False, nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("selection", sa.Text(), nullable=False),
        sa.Column("permissions", JSON, nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installations")),
    )
    op.create_table(
        "installed_repositories",
        sa.Column("installation_id", BIG, autoincrement=False, nullable=False),
        sa.Column("repository_id", BIG, autoincrement=False, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(
            "installation_id", "repository_id", name=op.f("pk_installed_repositories")
        ),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("installation_id", BIG, nullable=True),
        sa.Column("merge_base", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("request_number", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("full", sa.Boolean(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("delivery_id", BIG, nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("dispatch", BIG, nullable=False),
        sa.Column("tries", BIG, nullable=False),
        sa.Column("defers", BIG, nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("queued_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs_delivery_id"), "jobs", ["delivery_id"])
    op.create_index(op.f("ix_jobs_repository_id_pull"), "jobs", ["repository_id", "pull"])
    op.create_index(op.f("ix_jobs_state"), "jobs", ["state"])

    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "requests",
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("number", BIG, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "pull", "key", name=op.f("pk_requests")),
        sa.UniqueConstraint(
            "repository_id", "pull", "number", name=op.f("uq_requests_repository_id_pull_number")
        ),
    )
    op.create_table(
        "reviews",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("merge_base", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("marker", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("coverage", JSON, nullable=False),
        sa.Column("notes", JSON, nullable=False),
        sa.Column("timings", JSON, nullable=False),
        sa.Column("references", JSON, nullable=False),
        sa.Column("github_id", BIG, nullable=True),
        sa.Column("single", sa.Boolean(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("submitted_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
        sa.UniqueConstraint("job_id", name=op.f("uq_reviews_job_id")),
    )
    op.create_index(op.f("ix_reviews_github_id"), "reviews", ["github_id"])
    op.create_index(op.f("ix_reviews_repository_id_pull"), "reviews", ["repository_id", "pull"])

    op.create_table(
        "settings",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", JSON, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name=op.f("pk_settings")),
    )
    op.create_table(
        "threads",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("repository_id", BIG, nullable=False),
        sa.Column("pull", BIG, nullable=False),
        sa.Column("comment_github_id", BIG, nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("resolved", sa.Boolean(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threads")),
    )
    op.create_index(op.f("ix_threads_comment_github_id"), "threads", ["comment_github_id"])

    op.create_table(
        "workers",
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", BIG, nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("beat_at", sa.Double(), nullable=False),
        sa.Column("stopped", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("executor", name=op.f("pk_workers")),
    )


def downgrade() -> None:
    """Undo."""
    op.drop_table("workers")
    op.drop_table("threads")
    op.drop_table("settings")
    op.drop_table("reviews")
    op.drop_table("requests")
    op.drop_table("leases")
    op.drop_table("jobs")
    op.drop_table("installed_repositories")
    op.drop_table("installations")
    op.drop_table("holds")
    op.drop_table("dismissals")
    op.drop_table("deliveries")
    op.drop_table("comments")
    op.drop_table("candidates")
