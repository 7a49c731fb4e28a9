"""What the queue goes by: the quota table, grants, windows, and what each plan said."""

from sqlalchemy import Float, ForeignKey, Index, Integer, String, Table, Text

from headway.domain.grant import GrantState
from headway.domain.quota_version import Dropped
from headway.scheduler.plan import Forecast, Place
from headway.scheduler.snapshot import Hold, Window
from headway.store.columns import Choice, Moment, Told, Value
from headway.store.schema.declare import METADATA, key, may, must

# Each row is the whole table as it was proposed; the newest approved one whose date has come is in force.
quota_versions = Table(
    "quota_versions",
    METADATA,
    key("number", Integer),
    must("author", String),
    must("reason", Told),
    must("content", Text),
    must("diff", Value(tuple[str, ...])),
    must("based_on", Integer),
    must("proposed_at", Moment),
    may("approved_by", String),
    may("approved_at", Moment),
    may("in_force_from", Moment),
    may("dropped_as", Choice(Dropped)),
    may("dropped_by", String),
    may("dropped_at", Moment),
    may("dropped_why", Told),
)

grants = Table(
    "grants",
    METADATA,
    key("id", String),
    must("project", String, ForeignKey("projects.name")),
    must("device_type", String),
    must("devices", Integer),
    must("begins", Moment),
    must("ends", Moment),
    must("reason", Told),
    must("requested_by", String),
    must("requested_at", Moment),
    must("state", Choice(GrantState)),
    may("decided_by", String),
    may("decided_at", Moment),
    may("note", Told),
    may("warned_at", Moment),
    Index("ix_grants_project", "project", "requested_at"),
    Index("ix_grants_state", "state"),
)

windows = Table(
    "windows",
    METADATA,
    key("id", String),
    must("content", Value(Window)),
    must("begins", Moment),
    must("ends", Moment),
    must("reason", Told),
    must("set_by", String),
    must("set_at", Moment),
    may("cancelled_at", Moment),
    Index("ix_windows_ends", "ends"),
)

# The first forecast of each job, to be compared with when it really started.
predictions = Table(
    "predictions",
    METADATA,
    key("job", String, ForeignKey("jobs.id")),
    must("project", String),
    must("devices", Integer),
    must("made_at", Moment),
    must("drawn", Moment),
    must("p50", Moment),
    must("p90", Moment),
    may("started_at", Moment),
    must("passable", Float),
    Index("ix_predictions_made", "made_at"),
)

holds = Table(
    "holds",
    METADATA,
    key("job", String, ForeignKey("jobs.id")),
    must("until", Moment),
    must("content", Value(Hold)),
)

waits = Table(
    "waits",
    METADATA,
    key("job", String),
    must("position", Integer),
    may("reserved_at", Moment),
    must("ahead", Value(tuple[str, ...])),
    must("reason", String),
    must("reason_content", Text),
    must("at", Moment),
    may("place", Value(Place)),
    must("ahead_count", Integer),
)

forecasts = Table("forecasts", METADATA, key("job", String), must("content", Value(Forecast)))
