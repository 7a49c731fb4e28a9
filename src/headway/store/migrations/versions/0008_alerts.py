"""Alert rules, what fired, the channels to people, who follows which job, and what is still to be told."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table("alert_rules", sa.Column("name", sa.String(), primary_key=True), _must("content", sa.Text()))
    op.create_table(
        "alerts",
        sa.Column("id", sa.String(), primary_key=True),
        _must("rule", sa.String()),
        _must("subject", sa.Text()),
        _must("began", MOMENT),
        sa.Column("fired_at", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("value", sa.Float()),
        sa.Column("worst", sa.Float()),
        sa.Column("acknowledged_by", sa.String()),
        sa.Column("acknowledged_at", MOMENT),
        _must("note", sa.Text()),
        sa.Column("pushed_at", MOMENT),
    )
    op.create_index("ix_alerts_ended", "alerts", ["ended_at"])
    op.create_index("ix_alerts_began", "alerts", ["began"])
    op.create_table(
        "channels",
        sa.Column("name", sa.String(), primary_key=True),
        _must("url", sa.Text()),
        _must("language", sa.String()),
        _must("author", sa.String()),
        _must("created_at", MOMENT),
        _must("personal", sa.Boolean()),
        sa.Column("told_at", MOMENT),
    )
    op.create_table(
        "subscriptions",
        sa.Column("user", sa.String(), sa.ForeignKey("users.name", name="fk_subscriptions_user"), primary_key=True),
        sa.Column("job", sa.String(), sa.ForeignKey("jobs.id", name="fk_subscriptions_job"), primary_key=True),
        _must("channel", sa.String()),
        _must("at", MOMENT),
    )
    op.create_index("ix_subscriptions_job", "subscriptions", ["job"])
    _make_notices()


def _make_notices() -> None:
    op.create_table(
        "notices",
        sa.Column("id", SEQUENCE, primary_key=True),
        _must("channel", sa.String()),
        _must("text", sa.Text()),
        _must("made_at", MOMENT),
        _must("tries", sa.Integer()),
        sa.Column("not_before", MOMENT),
        sa.Column("told_at", MOMENT),
        sa.Column("error", sa.Text()),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notices_told", "notices", ["told_at"])


def downgrade() -> None:
    """Forget them."""
    for table in ("notices", "subscriptions", "channels", "alerts", "alert_rules"):
        op.drop_table(table)


def _must(name: str, of: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(name, of, *rest, nullable=False)
