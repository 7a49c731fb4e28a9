"""The first tables, and the triggers that keep facts and the ledger append-only.

It stands by itself: what `schema/` says later must not change what this made.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
APPEND_ONLY = ("facts", "ledger")


def upgrade() -> None:
    """Make everything."""
    for make in TABLES:
        make()
    op.execute("INSERT INTO world (id, version) VALUES (1, 1)")
    guard = _guard_sqlite if op.get_bind().dialect.name == "sqlite" else _guard_postgresql
    for table in APPEND_ONLY:
        guard(table)


def downgrade() -> None:
    """There is nothing before it."""
    raise RuntimeError("the first migration cannot be undone: remove the database")


def _guard_sqlite(table: str) -> None:
    for verb in ("update", "delete"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def _guard_postgresql(table: str) -> None:
    op.execute(
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{table} is append-only'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()"
    )


def _key(name: str, of: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(name, of, *rest, primary_key=True)


def _must(name: str, of: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(name, of, *rest, nullable=False)


def _may(name: str, of: Any) -> sa.Column[Any]:
    return sa.Column(name, of, nullable=True)


def _facts() -> None:
    op.create_table(
        "facts",
        _key("seq", SEQUENCE),
        _must("kind", sa.String),
        _must("at", MOMENT),
        _must("by", sa.String),
        _may("job", sa.String),
        _may("project", sa.String),
        _must("content", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_facts_job", "facts", ["job", "seq"])
    op.create_index("ix_facts_kind", "facts", ["kind", "seq"])
    op.create_index("ix_facts_project", "facts", ["project", "seq"])


def _ledger() -> None:
    op.create_table(
        "ledger",
        _key("key", sa.String),
        _must("project", sa.String),
        _must("job", sa.String),
        _must("attempt", sa.String),
        _must("device_type", sa.String),
        _must("basis", sa.String),
        _must("month", sa.String),
        _must("start", MOMENT),
        _must("end", MOMENT),
        _must("devices", sa.Integer),
        _must("device_seconds", sa.BigInteger),
    )
    op.create_index("ix_ledger_month", "ledger", ["month"])
    op.create_index("ix_ledger_project", "ledger", ["project", "month"])


def _cursors() -> None:
    op.create_table("cursors", _key("name", sa.String), _must("value", sa.BigInteger))


def _idempotency() -> None:
    op.create_table(
        "idempotency",
        _key("user", sa.String),
        _key("key", sa.String),
        _must("request_digest", sa.String),
        _must("status", sa.Integer),
        _must("body", sa.Text),
        _must("at", MOMENT),
    )
    op.create_index("ix_idempotency_at", "idempotency", ["at"])


def _world() -> None:
    op.create_table("world", _key("id", sa.Integer), _must("version", sa.BigInteger))


def _departments() -> None:
    op.create_table("departments", _key("name", sa.String), _must("created_at", MOMENT))


def _projects() -> None:
    op.create_table(
        "projects",
        _key("name", sa.String),
        _must("department", sa.String, sa.ForeignKey("departments.name", name="fk_projects_department")),
        _must("created_at", MOMENT),
        _may("closed_at", MOMENT),
    )


def _quotas() -> None:
    op.create_table(
        "quotas",
        _key("project", sa.String, sa.ForeignKey("projects.name", name="fk_quotas_project")),
        _key("device_type", sa.String),
        _must("devices", sa.Integer),
        _must("set_at", MOMENT),
        _must("set_by", sa.String),
    )


def _users() -> None:
    op.create_table(
        "users",
        _key("name", sa.String),
        _may("password_hash", sa.String),
        _may("unix_name", sa.String),
        _must("created_at", MOMENT),
    )


def _roles() -> None:
    op.create_table(
        "roles",
        _key("user", sa.String, sa.ForeignKey("users.name", name="fk_roles_user")),
        _key("role", sa.String),
        _key("project", sa.String),
    )


def _tokens() -> None:
    op.create_table(
        "tokens",
        _key("id", sa.String),
        _must("user", sa.String, sa.ForeignKey("users.name", name="fk_tokens_user")),
        _must("digest", sa.String),
        _must("created_at", MOMENT),
        _may("expires_at", MOMENT),
    )
    op.create_index("ix_tokens_digest", "tokens", ["digest"], unique=True)


def _jobs() -> None:
    op.create_table(
        "jobs",
        _key("id", sa.String),
        _must("spec", sa.Text),
        _must("owner", sa.String),
        _must("state", sa.String),
        _must("submitted_at", MOMENT),
        _must("attempts", sa.Integer),
        _must("failures", sa.Integer),
        _may("step", sa.BigInteger),
        _may("total", sa.BigInteger),
        _may("reason", sa.Text),
        _may("ended_at", MOMENT),
        _must("name", sa.String),
        _must("project", sa.String, sa.ForeignKey("projects.name", name="fk_jobs_project")),
        _must("template", sa.String),
    )
    op.create_index("ix_jobs_name", "jobs", ["name", "submitted_at"])
    op.create_index("ix_jobs_project", "jobs", ["project", "submitted_at", "id"])
    op.create_index("ix_jobs_state", "jobs", ["state", "submitted_at", "id"])
    op.create_index("ix_jobs_submitted", "jobs", ["submitted_at", "id"])


def _holds() -> None:
    op.create_table(
        "holds",
        _key("job", sa.String, sa.ForeignKey("jobs.id", name="fk_holds_job")),
        _must("until", MOMENT),
        _must("content", sa.Text),
    )


def _waits() -> None:
    op.create_table(
        "waits",
        _key("job", sa.String),
        _must("position", sa.Integer),
        _may("reserved_at", MOMENT),
        _must("ahead", sa.Text),
        _must("reason", sa.String),
        _must("reason_content", sa.Text),
        _must("at", MOMENT),
    )


def _forecasts() -> None:
    op.create_table("forecasts", _key("job", sa.String), _must("content", sa.Text))


def _attempts() -> None:
    op.create_table(
        "attempts",
        _key("id", sa.String),
        _must("job", sa.String, sa.ForeignKey("jobs.id", name="fk_attempts_job")),
        _must("number", sa.Integer),
        _must("engine", sa.String),
        _must("device_type", sa.String),
        _must("placements", sa.Text),
        _must("state", sa.String),
        _must("placed_at", MOMENT),
        _may("started_at", MOMENT),
        _may("ended_at", MOMENT),
        _may("outcome", sa.String),
        _may("resume_from", sa.Text),
        _must("resume_step", sa.BigInteger),
        _may("step", sa.BigInteger),
        _may("stop_reason", sa.Text),
        _must("token_digest", sa.String),
        _may("step_at", MOMENT),
        _may("handle", sa.Text),
        _may("stop_asked_at", MOMENT),
        _may("stop_grace", sa.BigInteger),
    )
    op.create_index("ix_attempts_job", "attempts", ["job", "number"], unique=True)
    op.create_index("ix_attempts_outcome", "attempts", ["outcome", "ended_at"])
    op.create_index("ix_attempts_state", "attempts", ["state"])
    op.create_index("ix_attempts_token", "attempts", ["token_digest"], unique=True)


def _attempt_nodes() -> None:
    op.create_table(
        "attempt_nodes",
        _key("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_attempt_nodes_attempt")),
        _key("node", sa.String),
        _must("phase", sa.String),
        _must("seq", sa.BigInteger),
        _must("first_at", MOMENT),
        _must("last_at", MOMENT),
        _may("ended_at", MOMENT),
        _may("ended_reason", sa.Text),
        _may("detail", sa.Text),
        _may("facts", sa.Text),
    )


def _attempt_ranks() -> None:
    op.create_table(
        "attempt_ranks",
        _key("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_attempt_ranks_attempt")),
        _key("rank", sa.Integer),
        _must("node", sa.String),
        _must("pid", sa.BigInteger),
        _must("started_at", MOMENT),
    )


def _rank_exits() -> None:
    op.create_table(
        "rank_exits",
        _key("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_rank_exits_attempt")),
        _key("rank", sa.Integer),
        _must("content", sa.Text),
    )


def _event_offsets() -> None:
    op.create_table(
        "event_offsets",
        _key("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_event_offsets_attempt")),
        _key("rank", sa.Integer),
        _must("offset", sa.BigInteger),
    )


def _drills() -> None:
    op.create_table(
        "drills",
        _key("id", sa.String),
        _must("job", sa.String, sa.ForeignKey("jobs.id", name="fk_drills_job")),
        _must("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_drills_attempt")),
        _must("rank", sa.Integer),
        _must("signal", sa.Integer),
        _must("at", MOMENT),
        _must("by", sa.String),
        _may("done_at", MOMENT),
    )
    op.create_index("ix_drills_attempt", "drills", ["attempt", "done_at"])
    op.create_index("ix_drills_job", "drills", ["job", "at"])


def _checkpoints() -> None:
    op.create_table(
        "checkpoints",
        _key("job", sa.String, sa.ForeignKey("jobs.id", name="fk_checkpoints_job")),
        _must("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_checkpoints_attempt")),
        _must("step", sa.BigInteger),
        _key("path", sa.Text),
        _must("bytes", sa.BigInteger),
        _must("seconds", sa.Float),
        _must("saved_at", MOMENT),
        _must("state", sa.String),
        _may("reason", sa.Text),
        _must("attempt_number", sa.Integer),
    )
    op.create_index("ix_checkpoints_step", "checkpoints", ["job", "step"])


def _bills() -> None:
    op.create_table(
        "bills",
        _key("failed", sa.String, sa.ForeignKey("attempts.id", name="fk_bills_failed")),
        _must("job", sa.String, sa.ForeignKey("jobs.id", name="fk_bills_job")),
        _must("is_open", sa.Boolean),
        _must("fault_at", MOMENT),
        _must("content", sa.Text),
    )
    op.create_index("ix_bills_job", "bills", ["job", "fault_at"])
    op.create_index("ix_bills_open", "bills", ["is_open"])


def _verdicts() -> None:
    op.create_table(
        "verdicts",
        _key("attempt", sa.String, sa.ForeignKey("attempts.id", name="fk_verdicts_attempt")),
        _must("fault", sa.String),
        _must("owner", sa.String),
        _must("content", sa.Text),
    )


def _templates() -> None:
    op.create_table(
        "templates",
        _key("name", sa.String),
        _key("version", sa.Integer),
        _must("content", sa.Text),
        _must("digest", sa.String),
        _must("added_at", MOMENT),
        _must("added_by", sa.String),
    )


def _datasets() -> None:
    op.create_table(
        "datasets",
        _key("name", sa.String),
        _key("number", sa.Integer),
        _must("path", sa.Text),
        _must("digest", sa.String),
        _must("bytes", sa.BigInteger),
        _must("files", sa.BigInteger),
        _must("created_at", MOMENT),
        _must("created_by", sa.String),
        _must("note", sa.Text),
    )


def _models() -> None:
    op.create_table(
        "models",
        _key("name", sa.String),
        _key("number", sa.Integer),
        _must("project", sa.String, sa.ForeignKey("projects.name", name="fk_models_project")),
        _must("path", sa.Text),
        _must("digest", sa.String),
        _must("bytes", sa.BigInteger),
        _must("created_at", MOMENT),
        _must("created_by", sa.String),
        _must("lineage", sa.Text),
    )
    op.create_index("ix_models_project", "models", ["project"])


def _services() -> None:
    op.create_table(
        "services",
        _key("project", sa.String, sa.ForeignKey("projects.name", name="fk_services_project")),
        _key("name", sa.String),
        _must("created_at", MOMENT),
        _must("created_by", sa.String),
        _may("stopped_at", MOMENT),
    )


def _splits() -> None:
    op.create_table(
        "splits",
        _key("service", sa.String),
        _key("number", sa.Integer),
        _must("shares", sa.Text),
        _must("at", MOMENT),
        _must("by", sa.String),
        _must("reason", sa.Text),
        _may("rollback_of", sa.Integer),
    )


def _replicas() -> None:
    op.create_table(
        "replicas",
        _must("service", sa.String),
        _must("version", sa.String),
        _key("job", sa.String, sa.ForeignKey("jobs.id", name="fk_replicas_job")),
        _must("state", sa.String),
        _may("endpoint", sa.String),
    )
    op.create_index("ix_replicas_service", "replicas", ["service"])


def _nodes() -> None:
    op.create_table(
        "nodes",
        _key("name", sa.String),
        _must("engine", sa.String),
        _must("device_type", sa.String),
        _must("devices", sa.Integer),
        _must("maker", sa.String),
        _must("state", sa.String),
        _may("reason", sa.Text),
        _must("labels", sa.Text),
        _may("cordon", sa.Text),
        _must("seen_at", MOMENT),
    )


TABLES = (
    _facts,
    _departments,
    _projects,
    _quotas,
    _users,
    _roles,
    _tokens,
    _ledger,
    _cursors,
    _idempotency,
    _world,
    _jobs,
    _holds,
    _waits,
    _forecasts,
    _attempts,
    _attempt_nodes,
    _attempt_ranks,
    _rank_exits,
    _event_offsets,
    _drills,
    _checkpoints,
    _bills,
    _verdicts,
    _templates,
    _datasets,
    _models,
    _services,
    _splits,
    _replicas,
    _nodes,
)
