"""How many bytes each rank printed in all, as its agent told at the end."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Unknown for the attempts that are there."""
    op.add_column("attempt_nodes", sa.Column("streams", sa.Text(), nullable=True))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("attempt_nodes", "streams")
