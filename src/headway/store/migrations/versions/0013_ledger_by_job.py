"""What each job took is looked up whenever jobs are listed."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Find the entries of a job without reading the whole ledger."""
    op.create_index("ix_ledger_job", "ledger", ["job"])


def downgrade() -> None:
    """Read it whole again."""
    op.drop_index("ix_ledger_job", "ledger")
