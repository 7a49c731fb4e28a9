"""Who wants a checkpoint kept, whatever the policy says."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing is pinned yet."""
    op.add_column("checkpoints", sa.Column("pinned_by", sa.String()))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("checkpoints", "pinned_by")
