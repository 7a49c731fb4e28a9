"""What a batch system tells: why a part ended, why an attempt waits there, and who else uses the nodes."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Unknown for what is there."""
    op.add_column("attempt_nodes", sa.Column("cause", sa.String(), nullable=True))
    op.add_column("attempts", sa.Column("waiting", sa.Text(), nullable=True))
    op.add_column("nodes", sa.Column("occupied", sa.Text(), nullable=True))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("nodes", "occupied")
    op.drop_column("attempts", "waiting")
    op.drop_column("attempt_nodes", "cause")
