"""How long saving a checkpoint kept the training waiting."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("checkpoints", sa.Column("blocked", sa.Float()))


def downgrade() -> None:
    """Take it away."""
    op.drop_column("checkpoints", "blocked")
