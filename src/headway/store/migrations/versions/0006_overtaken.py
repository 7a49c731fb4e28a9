"""Whom each attempt was let past, and until when it was to be over."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What runs already overtook nobody that is known."""
    op.add_column("attempts", sa.Column("overtook", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("attempts", "overtook")
