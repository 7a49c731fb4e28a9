"""Which framework wrote a checkpoint in its own way."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What is known already was saved by the in-job SDK."""
    op.add_column("checkpoints", sa.Column("format", sa.String()))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("checkpoints", "format")
