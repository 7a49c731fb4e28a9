"""Templates, data sets, models, and the services that serve them."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Table, Text

from headway.domain.service import ReplicaState, Share
from headway.domain.version import Lineage
from headway.store.columns import Choice, Moment, Value
from headway.store.schema.declare import METADATA, key, may, must

templates = Table(
    "templates",
    METADATA,
    key("name", String),
    key("version", Integer),
    must("content", Value(dict[str, Any])),
    must("digest", String),
    must("added_at", Moment),
    must("added_by", String),
)

datasets = Table(
    "datasets",
    METADATA,
    key("name", String),
    key("number", Integer),
    must("path", Text),
    must("digest", String),
    must("bytes", BigInteger),
    must("files", BigInteger),
    must("created_at", Moment),
    must("created_by", String),
    must("note", Text),
)

models = Table(
    "models",
    METADATA,
    key("name", String),
    key("number", Integer),
    must("project", String, ForeignKey("projects.name")),
    must("path", Text),
    must("digest", String),
    must("bytes", BigInteger),
    must("created_at", Moment),
    must("created_by", String),
    must("lineage", Value(Lineage)),
    Index("ix_models_project", "project"),
)

services = Table(
    "services",
    METADATA,
    key("project", String, ForeignKey("projects.name")),
    key("name", String),
    must("created_at", Moment),
    must("created_by", String),
    may("stopped_at", Moment),
)

splits = Table(
    "splits",
    METADATA,
    key("service", String),
    key("number", Integer),
    must("shares", Value(tuple[Share, ...])),
    must("at", Moment),
    must("by", String),
    must("reason", Text),
    may("rollback_of", Integer),
)

replicas = Table(
    "replicas",
    METADATA,
    must("service", String),
    must("version", String),
    key("job", String, ForeignKey("jobs.id")),
    must("state", Choice(ReplicaState)),
    may("endpoint", String),
    Index("ix_replicas_service", "service"),
)
