"""Every table and its indexes, as the newest migration leaves them (a test compares the two).

Columns that queries need are plain; what is only read back as a whole is one JSON column. Rows are a convenience, facts
are the truth: `facts` and `ledger` are append-only by triggers, which the migrations make.
"""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

from headway.diagnosis.cases.retest import Judgement, Measured, RetestShape
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.alert import AlertRule, Subject
from headway.domain.attempt import Outcome, Overtaken, RankExit
from headway.domain.checkpoint import CheckpointState, LossBill
from headway.domain.grant import GrantState
from headway.domain.job import JobSpec
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota_version import Dropped
from headway.domain.resources import Maker, NodeState, Occupied, Placement
from headway.domain.service import ReplicaState, Share
from headway.domain.version import Lineage
from headway.scheduler.plan import Forecast, Place
from headway.scheduler.snapshot import Hold, Window
from headway.store.columns import Choice, Moment, Span, Told, Value

METADATA = MetaData(
    naming_convention={
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# SQLite numbers rows by itself only in a column declared INTEGER.
SEQUENCE = BigInteger().with_variant(Integer, "sqlite")


def _key(name: str, of: Any, *rest: Any) -> Column[Any]:
    return Column(name, of, *rest, primary_key=True)


def _must(name: str, of: Any, *rest: Any) -> Column[Any]:
    return Column(name, of, *rest, nullable=False)


def _may(name: str, of: Any) -> Column[Any]:
    return Column(name, of, nullable=True)


facts = Table(
    "facts",
    METADATA,
    _key("seq", SEQUENCE),
    _must("kind", String),
    _must("at", Moment),
    _must("by", String),
    _may("job", String),
    _may("project", String),
    _must("content", Text),
    Index("ix_facts_job", "job", "seq"),
    Index("ix_facts_project", "project", "seq"),
    Index("ix_facts_kind", "kind", "seq"),
    sqlite_autoincrement=True,
)

departments = Table("departments", METADATA, _key("name", String), _must("created_at", Moment))

projects = Table(
    "projects",
    METADATA,
    _key("name", String),
    _must("department", String, ForeignKey("departments.name")),
    _must("created_at", Moment),
    _may("closed_at", Moment),
)

# Each row is the whole table as it was proposed; the newest approved one whose date has come is in force.
quota_versions = Table(
    "quota_versions",
    METADATA,
    _key("number", Integer),
    _must("author", String),
    _must("reason", Told),
    _must("content", Text),
    _must("diff", Value(tuple[str, ...])),
    _must("based_on", Integer),
    _must("proposed_at", Moment),
    _may("approved_by", String),
    _may("approved_at", Moment),
    _may("in_force_from", Moment),
    _may("dropped_as", Choice(Dropped)),
    _may("dropped_by", String),
    _may("dropped_at", Moment),
    _may("dropped_why", Told),
)

grants = Table(
    "grants",
    METADATA,
    _key("id", String),
    _must("project", String, ForeignKey("projects.name")),
    _must("device_type", String),
    _must("devices", Integer),
    _must("begins", Moment),
    _must("ends", Moment),
    _must("reason", Told),
    _must("requested_by", String),
    _must("requested_at", Moment),
    _must("state", Choice(GrantState)),
    _may("decided_by", String),
    _may("decided_at", Moment),
    _may("note", Told),
    _may("warned_at", Moment),
    Index("ix_grants_project", "project", "requested_at"),
    Index("ix_grants_state", "state"),
)

windows = Table(
    "windows",
    METADATA,
    _key("id", String),
    _must("content", Value(Window)),
    _must("begins", Moment),
    _must("ends", Moment),
    _must("reason", Told),
    _must("set_by", String),
    _must("set_at", Moment),
    _may("cancelled_at", Moment),
    Index("ix_windows_ends", "ends"),
)

# The first forecast of each job, to be compared with when it really started.
predictions = Table(
    "predictions",
    METADATA,
    _key("job", String, ForeignKey("jobs.id")),
    _must("project", String),
    _must("devices", Integer),
    _must("made_at", Moment),
    _must("drawn", Moment),
    _must("p50", Moment),
    _must("p90", Moment),
    _may("started_at", Moment),
    Index("ix_predictions_made", "made_at"),
)

# What people were warned of once, as `budget/nlp/h200/2026-11/soft`.
warned = Table("warned", METADATA, _key("key", String), _must("at", Moment))

users = Table(
    "users",
    METADATA,
    _key("name", String),
    _may("password_hash", String),
    _may("unix_name", String),
    _must("created_at", Moment),
)

# `project` is empty for a role that holds everywhere: a key column cannot be null.
roles = Table(
    "roles",
    METADATA,
    _key("user", String, ForeignKey("users.name")),
    _key("role", String),
    _key("project", String),
)

tokens = Table(
    "tokens",
    METADATA,
    _key("id", String),
    _must("user", String, ForeignKey("users.name")),
    _must("digest", String),
    _must("created_at", Moment),
    _may("expires_at", Moment),
    Index("ix_tokens_digest", "digest", unique=True),
)

jobs = Table(
    "jobs",
    METADATA,
    _key("id", String),
    _must("spec", Value(JobSpec)),
    _must("owner", String),
    _must("state", Choice(JobState)),
    _must("submitted_at", Moment),
    _must("attempts", Integer),
    _must("failures", Integer),
    _may("step", BigInteger),
    _may("total", BigInteger),
    _may("reason", Told),
    _may("ended_at", Moment),
    _must("name", String),
    _must("project", String, ForeignKey("projects.name")),
    _must("template", String),
    _must("preemptions", Integer),
    _must("avoids", Value(tuple[str, ...])),
    Index("ix_jobs_state", "state", "submitted_at", "id"),
    Index("ix_jobs_project", "project", "submitted_at", "id"),
    Index("ix_jobs_submitted", "submitted_at", "id"),
    Index("ix_jobs_name", "name", "submitted_at"),
)

attempts = Table(
    "attempts",
    METADATA,
    _key("id", String),
    _must("job", String, ForeignKey("jobs.id")),
    _must("number", Integer),
    _must("engine", String),
    _must("device_type", String),
    _must("placements", Value(tuple[Placement, ...])),
    _must("state", Choice(AttemptState)),
    _must("placed_at", Moment),
    _may("started_at", Moment),
    _may("ended_at", Moment),
    _may("outcome", Choice(Outcome)),
    _may("resume_from", Text),
    _must("resume_step", BigInteger),
    _may("step", BigInteger),
    _may("stop_reason", Told),
    _must("token_digest", String),
    _may("step_at", Moment),
    _may("handle", Value(dict[str, Any])),
    _may("stop_asked_at", Moment),
    _may("stop_grace", Span),
    _must("borrowed", Boolean),
    _must("overtook", Value(tuple[Overtaken, ...])),
    _may("waiting", Told),
    Index("ix_attempts_job", "job", "number", unique=True),
    Index("ix_attempts_token", "token_digest", unique=True),
    Index("ix_attempts_state", "state"),
    Index("ix_attempts_outcome", "outcome", "ended_at"),
)

attempt_nodes = Table(
    "attempt_nodes",
    METADATA,
    _key("attempt", String, ForeignKey("attempts.id")),
    _key("node", String),
    _must("phase", String),
    _must("seq", BigInteger),
    _must("first_at", Moment),
    _must("last_at", Moment),
    _may("ended_at", Moment),
    _may("ended_reason", Told),
    _may("detail", Told),
    _may("facts", Value(dict[str, Any])),
    _may("streams", Value(dict[str, int])),
    _may("cause", String),
)

attempt_ranks = Table(
    "attempt_ranks",
    METADATA,
    _key("attempt", String, ForeignKey("attempts.id")),
    _key("rank", Integer),
    _must("node", String),
    _must("pid", BigInteger),
    _must("started_at", Moment),
)

rank_exits = Table(
    "rank_exits",
    METADATA,
    _key("attempt", String, ForeignKey("attempts.id")),
    _key("rank", Integer),
    _must("content", Value(RankExit)),
)

event_offsets = Table(
    "event_offsets",
    METADATA,
    _key("attempt", String, ForeignKey("attempts.id")),
    _key("rank", Integer),
    _must("offset", BigInteger),
)

drills = Table(
    "drills",
    METADATA,
    _key("id", String),
    _must("job", String, ForeignKey("jobs.id")),
    _must("attempt", String, ForeignKey("attempts.id")),
    _must("rank", Integer),
    _must("signal", Integer),
    _must("at", Moment),
    _must("by", String),
    _may("done_at", Moment),
    Index("ix_drills_attempt", "attempt", "done_at"),
    Index("ix_drills_job", "job", "at"),
)

checkpoints = Table(
    "checkpoints",
    METADATA,
    _key("job", String, ForeignKey("jobs.id")),
    _must("attempt", String, ForeignKey("attempts.id")),
    _must("step", BigInteger),
    _key("path", Told),
    _must("bytes", BigInteger),
    _must("seconds", Float),
    _must("saved_at", Moment),
    _must("state", Choice(CheckpointState)),
    _may("reason", Told),
    _must("attempt_number", Integer),
    Index("ix_checkpoints_step", "job", "step"),
)

bills = Table(
    "bills",
    METADATA,
    _key("failed", String, ForeignKey("attempts.id")),
    _must("job", String, ForeignKey("jobs.id")),
    _must("is_open", Boolean),
    _must("fault_at", Moment),
    _must("content", Value(LossBill)),
    Index("ix_bills_job", "job", "fault_at"),
    Index("ix_bills_open", "is_open"),
)

verdicts = Table(
    "verdicts",
    METADATA,
    _key("attempt", String, ForeignKey("attempts.id")),
    _must("fault", Choice(Fault)),
    _must("owner", Choice(Owner)),
    _must("content", Value(Verdict)),
)

holds = Table(
    "holds",
    METADATA,
    _key("job", String, ForeignKey("jobs.id")),
    _must("until", Moment),
    _must("content", Value(Hold)),
)

waits = Table(
    "waits",
    METADATA,
    _key("job", String),
    _must("position", Integer),
    _may("reserved_at", Moment),
    _must("ahead", Value(tuple[str, ...])),
    _must("reason", String),
    _must("reason_content", Text),
    _must("at", Moment),
    _may("place", Value(Place)),
    _must("ahead_count", Integer),
)

forecasts = Table("forecasts", METADATA, _key("job", String), _must("content", Value(Forecast)))

templates = Table(
    "templates",
    METADATA,
    _key("name", String),
    _key("version", Integer),
    _must("content", Value(dict[str, Any])),
    _must("digest", String),
    _must("added_at", Moment),
    _must("added_by", String),
)

datasets = Table(
    "datasets",
    METADATA,
    _key("name", String),
    _key("number", Integer),
    _must("path", Text),
    _must("digest", String),
    _must("bytes", BigInteger),
    _must("files", BigInteger),
    _must("created_at", Moment),
    _must("created_by", String),
    _must("note", Text),
)

models = Table(
    "models",
    METADATA,
    _key("name", String),
    _key("number", Integer),
    _must("project", String, ForeignKey("projects.name")),
    _must("path", Text),
    _must("digest", String),
    _must("bytes", BigInteger),
    _must("created_at", Moment),
    _must("created_by", String),
    _must("lineage", Value(Lineage)),
    Index("ix_models_project", "project"),
)

services = Table(
    "services",
    METADATA,
    _key("project", String, ForeignKey("projects.name")),
    _key("name", String),
    _must("created_at", Moment),
    _must("created_by", String),
    _may("stopped_at", Moment),
)

splits = Table(
    "splits",
    METADATA,
    _key("service", String),
    _key("number", Integer),
    _must("shares", Value(tuple[Share, ...])),
    _must("at", Moment),
    _must("by", String),
    _must("reason", Text),
    _may("rollback_of", Integer),
)

replicas = Table(
    "replicas",
    METADATA,
    _must("service", String),
    _must("version", String),
    _key("job", String, ForeignKey("jobs.id")),
    _must("state", Choice(ReplicaState)),
    _may("endpoint", String),
    Index("ix_replicas_service", "service"),
)

ledger = Table(
    "ledger",
    METADATA,
    _key("key", String),
    _must("project", String),
    _must("job", String),
    _must("attempt", String),
    _must("device_type", String),
    _must("basis", String),
    _must("month", String),
    _must("start", Moment),
    _must("end", Moment),
    _must("devices", Integer),
    _must("device_seconds", BigInteger),
    _may("grant", String),
    Index("ix_ledger_project", "project", "month"),
    Index("ix_ledger_month", "month"),
    Index("ix_ledger_end", "end"),
)

cursors = Table("cursors", METADATA, _key("name", String), _must("value", BigInteger))

idempotency = Table(
    "idempotency",
    METADATA,
    _key("user", String),
    _key("key", String),
    _must("request_digest", String),
    _must("status", Integer),
    _must("body", Text),
    _must("at", Moment),
    Index("ix_idempotency_at", "at"),
)

# One row, number 1: its version counts the changes that a plan depends on.
world = Table("world", METADATA, _key("id", Integer), _must("version", BigInteger))

nodes = Table(
    "nodes",
    METADATA,
    _key("name", String),
    _must("engine", String),
    _must("device_type", String),
    _must("devices", Integer),
    _must("maker", Choice(Maker)),
    _must("state", Choice(NodeState)),
    _may("reason", Told),
    _must("labels", Value(dict[str, str])),
    _may("cordon", Told),
    _must("seen_at", Moment),
    _may("occupied", Value(tuple[Occupied, ...])),
    _may("cordon_until", Moment),
    _may("needs_retest", Boolean),
)

retests = Table(
    "retests",
    METADATA,
    _key("id", String),
    _must("job", String, ForeignKey("jobs.id")),
    _must("nodes", Value(tuple[str, ...])),
    _must("shape", Value(RetestShape)),
    _must("as_reference", Boolean),
    _must("requested_by", String),
    _must("requested_at", Moment),
    _may("ended_at", Moment),
    _may("measured", Value(Measured)),
    _may("judgement", Value(Judgement)),
    Index("ix_retests_job", "job"),
)

# What retests of one shape are compared with; the key is the shape in words.
retest_references = Table(
    "retest_references",
    METADATA,
    _key("shape", String),
    _must("speeds", Value(dict[str, float])),
    _must("retest", String),
    _must("set_by", String),
    _must("set_at", Moment),
)

alert_rules = Table("alert_rules", METADATA, _key("name", String), _must("content", Value(AlertRule)))

alerts = Table(
    "alerts",
    METADATA,
    _key("id", String),
    _must("rule", String),
    _must("subject", Value(Subject)),
    _must("began", Moment),
    _may("fired_at", Moment),
    _may("ended_at", Moment),
    _may("value", Float),
    _may("worst", Float),
    _may("acknowledged_by", String),
    _may("acknowledged_at", Moment),
    _must("note", Told),
    _may("pushed_at", Moment),
    Index("ix_alerts_ended", "ended_at"),
    Index("ix_alerts_began", "began"),
)

channels = Table(
    "channels",
    METADATA,
    _key("name", String),
    _must("url", Text),
    _must("language", String),
    _must("author", String),
    _must("created_at", Moment),
    _must("personal", Boolean),
    _may("told_at", Moment),
)

subscriptions = Table(
    "subscriptions",
    METADATA,
    _key("user", String, ForeignKey("users.name")),
    _key("job", String, ForeignKey("jobs.id")),
    _must("channel", String),
    _must("at", Moment),
    Index("ix_subscriptions_job", "job"),
)

# What is to be told, kept until a channel has taken it.
notices = Table(
    "notices",
    METADATA,
    _key("id", SEQUENCE),
    _must("channel", String),
    _must("text", Told),
    _must("made_at", Moment),
    _must("tries", Integer),
    _may("not_before", Moment),
    _may("told_at", Moment),
    _may("error", Told),
    Index("ix_notices_told", "told_at"),
    sqlite_autoincrement=True,
)
