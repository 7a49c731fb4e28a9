"""Nodes, their retests, alerts, and the ways to people."""

from sqlalchemy import Boolean, Float, ForeignKey, Index, Integer, String, Table, Text

from headway.diagnosis.cases.retest import Judgement, Measured, RetestShape
from headway.domain.alert import AlertRule, Subject
from headway.domain.resources import Maker, NodeState, Occupied
from headway.store.columns import Choice, Moment, Told, Value
from headway.store.schema.declare import METADATA, SEQUENCE, key, may, must

nodes = Table(
    "nodes",
    METADATA,
    key("name", String),
    must("engine", String),
    must("device_type", String),
    must("devices", Integer),
    must("maker", Choice(Maker)),
    must("state", Choice(NodeState)),
    may("reason", Told),
    must("labels", Value(dict[str, str])),
    may("cordon", Told),
    must("seen_at", Moment),
    may("occupied", Value(tuple[Occupied, ...])),
    may("cordon_until", Moment),
    may("needs_retest", Boolean),
)

retests = Table(
    "retests",
    METADATA,
    key("id", String),
    must("job", String, ForeignKey("jobs.id")),
    must("nodes", Value(tuple[str, ...])),
    must("shape", Value(RetestShape)),
    must("as_reference", Boolean),
    must("requested_by", String),
    must("requested_at", Moment),
    may("ended_at", Moment),
    may("measured", Value(Measured)),
    may("judgement", Value(Judgement)),
    Index("ix_retests_job", "job"),
)

# What retests of one shape are compared with; the key is the shape in words.
retest_references = Table(
    "retest_references",
    METADATA,
    key("shape", String),
    must("speeds", Value(dict[str, float])),
    must("retest", String),
    must("set_by", String),
    must("set_at", Moment),
)

alert_rules = Table("alert_rules", METADATA, key("name", String), must("content", Value(AlertRule)))

alerts = Table(
    "alerts",
    METADATA,
    key("id", String),
    must("rule", String),
    must("subject", Value(Subject)),
    must("began", Moment),
    may("fired_at", Moment),
    may("ended_at", Moment),
    may("value", Float),
    may("worst", Float),
    may("acknowledged_by", String),
    may("acknowledged_at", Moment),
    must("note", Told),
    may("pushed_at", Moment),
    Index("ix_alerts_ended", "ended_at"),
    Index("ix_alerts_began", "began"),
)

channels = Table(
    "channels",
    METADATA,
    key("name", String),
    must("url", Text),
    must("language", String),
    must("author", String),
    must("created_at", Moment),
    must("personal", Boolean),
    may("told_at", Moment),
)

subscriptions = Table(
    "subscriptions",
    METADATA,
    key("user", String, ForeignKey("users.name")),
    key("job", String, ForeignKey("jobs.id")),
    must("channel", String),
    must("at", Moment),
    Index("ix_subscriptions_job", "job"),
)

# What is to be told, kept until a channel has taken it.
notices = Table(
    "notices",
    METADATA,
    key("id", SEQUENCE),
    must("channel", String),
    must("text", Told),
    must("made_at", Moment),
    must("tries", Integer),
    may("not_before", Moment),
    may("told_at", Moment),
    may("error", Told),
    Index("ix_notices_told", "told_at"),
    sqlite_autoincrement=True,
)
