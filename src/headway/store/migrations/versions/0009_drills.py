"""Drills of more than ranks, at a step, on a copy of a job, and how they came out."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Widen the table; drills that were ordered before were of ranks, and at once."""
    with op.batch_alter_table("drills") as drills:
        drills.alter_column("attempt", existing_type=sa.String(), nullable=True)
        drills.add_column(sa.Column("kill", sa.String(), nullable=False, server_default="rank"))
        drills.add_column(sa.Column("at_step", sa.BigInteger()))
        drills.add_column(sa.Column("shadow_of", sa.String()))
        drills.add_column(sa.Column("sent_at", MOMENT))
        drills.add_column(sa.Column("over_at", MOMENT))
        drills.add_column(sa.Column("verdict_right", sa.Boolean()))
        drills.add_column(sa.Column("score", sa.Text()))
    op.execute("UPDATE drills SET sent_at = at WHERE done_at IS NOT NULL")
    with op.batch_alter_table("drills") as drills:
        drills.alter_column("kill", existing_type=sa.String(), server_default=None)
    op.create_index("ix_drills_over", "drills", ["over_at"])
