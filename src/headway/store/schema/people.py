"""The spine of facts, the directory of people and projects, and what people may repeat."""

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Table, Text

from headway.store.columns import Moment
from headway.store.schema.declare import METADATA, SEQUENCE, key, may, must

facts = Table(
    "facts",
    METADATA,
    key("seq", SEQUENCE),
    must("kind", String),
    must("at", Moment),
    must("by", String),
    may("job", String),
    may("project", String),
    must("content", Text),
    Index("ix_facts_job", "job", "seq"),
    Index("ix_facts_project", "project", "seq"),
    Index("ix_facts_kind", "kind", "seq"),
    sqlite_autoincrement=True,
)

departments = Table("departments", METADATA, key("name", String), must("created_at", Moment))

projects = Table(
    "projects",
    METADATA,
    key("name", String),
    must("department", String, ForeignKey("departments.name")),
    must("created_at", Moment),
    may("closed_at", Moment),
)

users = Table(
    "users",
    METADATA,
    key("name", String),
    may("password_hash", String),
    may("unix_name", String),
    must("created_at", Moment),
)

# `project` is empty for a role that holds everywhere: a key column cannot be null.
roles = Table(
    "roles",
    METADATA,
    key("user", String, ForeignKey("users.name")),
    key("role", String),
    key("project", String),
)

tokens = Table(
    "tokens",
    METADATA,
    key("id", String),
    must("user", String, ForeignKey("users.name")),
    must("digest", String),
    must("created_at", Moment),
    may("expires_at", Moment),
    Index("ix_tokens_digest", "digest", unique=True),
)

cursors = Table("cursors", METADATA, key("name", String), must("value", BigInteger))

idempotency = Table(
    "idempotency",
    METADATA,
    key("user", String),
    key("key", String),
    must("request_digest", String),
    must("status", Integer),
    must("body", Text),
    must("at", Moment),
    Index("ix_idempotency_at", "at"),
)

# One row, number 1: its version counts the changes that a plan depends on.
world = Table("world", METADATA, key("id", Integer), must("version", BigInteger))

# What people were warned of once, as `budget/nlp/h200/2026-11/soft`.
warned = Table("warned", METADATA, key("key", String), must("at", Moment))
