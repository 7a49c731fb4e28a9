"""The quota tree as versioned wholes, grants, windows, predictions; what is known of preemptions and borrowing.

Flat quotas become version 1 of the tree: each is guaranteed, nothing is borrowed.
"""

from json import dumps
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make the tables, carry the flat quotas over."""
    _make_quota_versions()
    _make_grants()
    _make_windows()
    _make_predictions()
    _add_columns()
    _carry_quotas_over()
    op.drop_table("quotas")


def downgrade() -> None:
    """A tree does not fit into flat quotas."""
    raise RuntimeError("the quota tree cannot be undone: restore a backup")


def _make_quota_versions() -> None:
    op.create_table(
        "quota_versions",
        sa.Column("number", sa.Integer(), primary_key=True),
        _must("author", sa.String()),
        _must("reason", sa.Text()),
        _must("content", sa.Text()),
        _must("diff", sa.Text()),
        _must("based_on", sa.Integer()),
        _must("proposed_at", MOMENT),
        sa.Column("approved_by", sa.String()),
        sa.Column("approved_at", MOMENT),
        sa.Column("in_force_from", MOMENT),
    )


def _make_grants() -> None:
    op.create_table(
        "grants",
        sa.Column("id", sa.String(), primary_key=True),
        _must("project", sa.String(), sa.ForeignKey("projects.name", name="fk_grants_project")),
        _must("device_type", sa.String()),
        _must("devices", sa.Integer()),
        _must("begins", MOMENT),
        _must("ends", MOMENT),
        _must("reason", sa.Text()),
        _must("requested_by", sa.String()),
        _must("requested_at", MOMENT),
        _must("state", sa.String()),
        sa.Column("decided_by", sa.String()),
        sa.Column("decided_at", MOMENT),
        sa.Column("note", sa.Text()),
        sa.Column("warned_at", MOMENT),
    )
    op.create_index("ix_grants_project", "grants", ["project", "requested_at"])
    op.create_index("ix_grants_state", "grants", ["state"])


def _make_windows() -> None:
    op.create_table(
        "windows",
        sa.Column("id", sa.String(), primary_key=True),
        _must("content", sa.Text()),
        _must("begins", MOMENT),
        _must("ends", MOMENT),
        _must("reason", sa.Text()),
        _must("set_by", sa.String()),
        _must("set_at", MOMENT),
        sa.Column("cancelled_at", MOMENT),
    )
    op.create_index("ix_windows_ends", "windows", ["ends"])


def _make_predictions() -> None:
    op.create_table(
        "predictions",
        sa.Column("job", sa.String(), sa.ForeignKey("jobs.id", name="fk_predictions_job"), primary_key=True),
        _must("project", sa.String()),
        _must("devices", sa.Integer()),
        _must("made_at", MOMENT),
        _must("drawn", MOMENT),
        _must("p50", MOMENT),
        _must("p90", MOMENT),
        sa.Column("started_at", MOMENT),
    )
    op.create_index("ix_predictions_made", "predictions", ["made_at"])
    op.create_table("warned", sa.Column("key", sa.String(), primary_key=True), _must("at", MOMENT))


def _add_columns() -> None:
    op.add_column("jobs", sa.Column("preemptions", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("attempts", sa.Column("borrowed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("waits", sa.Column("place", sa.Text(), nullable=True))
    op.add_column("waits", sa.Column("ahead_count", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("ledger", sa.Column("grant", sa.String(), nullable=True))
    op.create_index("ix_ledger_end", "ledger", ["end"])


def _carry_quotas_over() -> None:
    bind = op.get_bind()
    statement = "SELECT project, device_type, devices, set_at FROM quotas ORDER BY project, device_type"
    rows = bind.execute(sa.text(statement)).all()
    if not rows:
        return
    found = {name: department for name, department in bind.execute(sa.text("SELECT name, department FROM projects"))}
    homes = {project: None if home in found else home for project, home in found.items()}
    at = max(row.set_at for row in rows)
    version = {
        "author": "server",
        "reason": "flat quotas as they stood",
        "content": _toml(rows, homes),
        "at": at,
    }
    bind.execute(
        sa.text(
            "INSERT INTO quota_versions (number, author, reason, content, diff, based_on, proposed_at, approved_by, "
            "approved_at, in_force_from) VALUES (1, :author, :reason, :content, '[]', 0, :at, :author, :at, :at)"
        ),
        version,
    )


def _toml(rows: Any, homes: dict[str, str | None]) -> str:
    """The table as text; a department that is called like a project is left out: names are one space now."""
    parts = [f"[departments.{dumps(name)}]" for name in sorted({home for home in homes.values() if home})]
    for project in sorted({row.project for row in rows}):
        cards = [f"cards.{dumps(r.device_type)} = {{ guaranteed = {r.devices} }}" for r in rows if r.project == project]
        head = [f"[projects.{dumps(project)}]"]
        head += [f"department = {dumps(homes[project])}"] if homes[project] else []
        parts.append("\n".join([*head, *cards]))
    return "\n\n".join(parts) + "\n"


def _must(name: str, of: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(name, of, *rest, nullable=False)
