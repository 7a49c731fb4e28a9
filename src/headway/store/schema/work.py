"""Jobs, their attempts, what the agents told of them, and what follows."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, String, Table, Text

from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.attempt import Outcome, Overtaken, RankExit
from headway.domain.checkpoint import CheckpointState, LossBill
from headway.domain.drill import Kill, Score
from headway.domain.job import JobSpec
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.resources import Placement
from headway.store.columns import Choice, Moment, Span, Told, Value
from headway.store.schema.declare import METADATA, key, may, must

jobs = Table(
    "jobs",
    METADATA,
    key("id", String),
    must("spec", Value(JobSpec)),
    must("owner", String),
    must("state", Choice(JobState)),
    must("submitted_at", Moment),
    must("attempts", Integer),
    must("failures", Integer),
    may("step", BigInteger),
    may("total", BigInteger),
    may("reason", Told),
    may("ended_at", Moment),
    must("name", String),
    must("project", String, ForeignKey("projects.name")),
    must("template", String),
    must("preemptions", Integer),
    must("avoids", Value(tuple[str, ...])),
    Index("ix_jobs_state", "state", "submitted_at", "id"),
    Index("ix_jobs_project", "project", "submitted_at", "id"),
    Index("ix_jobs_submitted", "submitted_at", "id"),
    Index("ix_jobs_name", "name", "submitted_at"),
)

attempts = Table(
    "attempts",
    METADATA,
    key("id", String),
    must("job", String, ForeignKey("jobs.id")),
    must("number", Integer),
    must("engine", String),
    must("device_type", String),
    must("placements", Value(tuple[Placement, ...])),
    must("state", Choice(AttemptState)),
    must("placed_at", Moment),
    may("started_at", Moment),
    may("ended_at", Moment),
    may("outcome", Choice(Outcome)),
    may("resume_from", Text),
    must("resume_step", BigInteger),
    may("step", BigInteger),
    may("stop_reason", Told),
    must("token_digest", String),
    may("step_at", Moment),
    may("handle", Value(dict[str, Any])),
    may("stop_asked_at", Moment),
    may("stop_grace", Span),
    must("borrowed", Boolean),
    must("overtook", Value(tuple[Overtaken, ...])),
    may("waiting", Told),
    Index("ix_attempts_job", "job", "number", unique=True),
    Index("ix_attempts_token", "token_digest", unique=True),
    Index("ix_attempts_state", "state"),
    Index("ix_attempts_outcome", "outcome", "ended_at"),
)

attempt_nodes = Table(
    "attempt_nodes",
    METADATA,
    key("attempt", String, ForeignKey("attempts.id")),
    key("node", String),
    must("phase", String),
    must("seq", BigInteger),
    must("first_at", Moment),
    must("last_at", Moment),
    may("ended_at", Moment),
    may("ended_reason", Told),
    may("detail", Told),
    may("facts", Value(dict[str, Any])),
    may("streams", Value(dict[str, int])),
    may("cause", String),
)

attempt_ranks = Table(
    "attempt_ranks",
    METADATA,
    key("attempt", String, ForeignKey("attempts.id")),
    key("rank", Integer),
    must("node", String),
    must("pid", BigInteger),
    must("started_at", Moment),
)

rank_exits = Table(
    "rank_exits",
    METADATA,
    key("attempt", String, ForeignKey("attempts.id")),
    key("rank", Integer),
    must("content", Value(RankExit)),
)

event_offsets = Table(
    "event_offsets",
    METADATA,
    key("attempt", String, ForeignKey("attempts.id")),
    key("rank", Integer),
    must("offset", BigInteger),
)

drills = Table(
    "drills",
    METADATA,
    key("id", String),
    must("job", String, ForeignKey("jobs.id")),
    Column("attempt", String, ForeignKey("attempts.id"), nullable=True),
    must("rank", Integer),
    must("signal", Integer),
    must("at", Moment),
    must("by", String),
    may("done_at", Moment),
    must("kill", Choice(Kill)),
    may("at_step", BigInteger),
    may("shadow_of", String),
    may("sent_at", Moment),
    may("over_at", Moment),
    may("verdict_right", Boolean),
    may("score", Value(Score)),
    Index("ix_drills_attempt", "attempt", "done_at"),
    Index("ix_drills_job", "job", "at"),
    Index("ix_drills_over", "over_at"),
)

checkpoints = Table(
    "checkpoints",
    METADATA,
    key("job", String, ForeignKey("jobs.id")),
    must("attempt", String, ForeignKey("attempts.id")),
    must("step", BigInteger),
    key("path", Told),
    must("bytes", BigInteger),
    must("seconds", Float),
    must("saved_at", Moment),
    must("state", Choice(CheckpointState)),
    may("reason", Told),
    must("attempt_number", Integer),
    may("blocked", Float),
    may("format", String),
    may("pinned_by", String),
    may("storage", String),
    may("restored", Float),
    may("copy", Told),
    may("copy_storage", String),
    may("copy_seconds", Float),
    may("copy_restored", Float),
    Index("ix_checkpoints_step", "job", "step"),
    Index("ix_checkpoints_saved", "saved_at"),
)

bills = Table(
    "bills",
    METADATA,
    key("failed", String, ForeignKey("attempts.id")),
    must("job", String, ForeignKey("jobs.id")),
    must("is_open", Boolean),
    must("fault_at", Moment),
    must("content", Value(LossBill)),
    Index("ix_bills_job", "job", "fault_at"),
    Index("ix_bills_open", "is_open"),
)

verdicts = Table(
    "verdicts",
    METADATA,
    key("attempt", String, ForeignKey("attempts.id")),
    must("fault", Choice(Fault)),
    must("owner", Choice(Owner)),
    must("content", Value(Verdict)),
)

ledger = Table(
    "ledger",
    METADATA,
    key("key", String),
    must("project", String),
    must("job", String),
    must("attempt", String),
    must("device_type", String),
    must("basis", String),
    must("month", String),
    must("start", Moment),
    must("end", Moment),
    must("devices", Integer),
    must("device_seconds", BigInteger),
    may("grant", String),
    Index("ix_ledger_project", "project", "month"),
    Index("ix_ledger_month", "month"),
    Index("ix_ledger_end", "end"),
    Index("ix_ledger_job", "job"),
)
