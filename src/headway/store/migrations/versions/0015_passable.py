"""For how long shorter jobs could be put before one whose start was foretold."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Of what was foretold before, nothing is known."""
    op.add_column("predictions", sa.Column("passable", sa.Float(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Take it away."""
    op.drop_column("predictions", "passable")
