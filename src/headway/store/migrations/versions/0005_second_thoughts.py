"""Proposed tables that were rejected or withdrawn, and the nodes that each job is kept away from."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
NEW: dict[str, Any] = {
    "dropped_as": sa.String(),
    "dropped_by": sa.String(),
    "dropped_at": MOMENT,
    "dropped_why": sa.Text(),
}


def upgrade() -> None:
    """No proposal was dropped so far, and no job avoids a node."""
    for name, kind in NEW.items():
        op.add_column("quota_versions", sa.Column(name, kind, nullable=True))
    op.add_column("jobs", sa.Column("avoids", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("jobs", "avoids")
    for name in reversed(NEW):
        op.drop_column("quota_versions", name)
