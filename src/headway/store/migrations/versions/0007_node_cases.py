"""Cordons that end or that need a retest, retests, and what they are compared with."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Cordons that are there have no end, and need no retest."""
    op.add_column("nodes", sa.Column("cordon_until", MOMENT, nullable=True))
    op.add_column("nodes", sa.Column("needs_retest", sa.Boolean(), nullable=True))
    op.create_table(
        "retests",
        sa.Column("id", sa.String(), primary_key=True),
        _must("job", sa.String(), sa.ForeignKey("jobs.id", name="fk_retests_job")),
        _must("nodes", sa.Text()),
        _must("shape", sa.Text()),
        _must("as_reference", sa.Boolean()),
        _must("requested_by", sa.String()),
        _must("requested_at", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("measured", sa.Text()),
        sa.Column("judgement", sa.Text()),
    )
    op.create_index("ix_retests_job", "retests", ["job"])
    op.create_table(
        "retest_references",
        sa.Column("shape", sa.String(), primary_key=True),
        _must("speeds", sa.Text()),
        _must("retest", sa.String()),
        _must("set_by", sa.String()),
        _must("set_at", MOMENT),
    )


def downgrade() -> None:
    """Forget them."""
    op.drop_table("retest_references")
    op.drop_table("retests")
    op.drop_column("nodes", "needs_retest")
    op.drop_column("nodes", "cordon_until")


def _must(name: str, of: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(name, of, *rest, nullable=False)
