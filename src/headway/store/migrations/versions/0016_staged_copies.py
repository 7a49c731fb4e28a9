"""Where a checkpoint was copied to, and how long that and going on from the copy took."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

COLUMNS = {"copy": sa.Text, "copy_storage": sa.String, "copy_seconds": sa.Float, "copy_restored": sa.Float}


def upgrade() -> None:
    """Add the columns."""
    for name, kind in COLUMNS.items():
        op.add_column("checkpoints", sa.Column(name, kind()))


def downgrade() -> None:
    """Take them away."""
    for name in COLUMNS:
        op.drop_column("checkpoints", name)
