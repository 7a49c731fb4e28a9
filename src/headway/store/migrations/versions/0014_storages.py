"""What a checkpoint lies on, and how long reading it back took."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, and find what was saved lately."""
    op.add_column("checkpoints", sa.Column("storage", sa.String()))
    op.add_column("checkpoints", sa.Column("restored", sa.Float()))
    op.create_index("ix_checkpoints_saved", "checkpoints", ["saved_at"])


def downgrade() -> None:
    """Take them away."""
    op.drop_index("ix_checkpoints_saved", "checkpoints")
    op.drop_column("checkpoints", "restored")
    op.drop_column("checkpoints", "storage")
