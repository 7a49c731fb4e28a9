"""Every table and its indexes, as the newest migration leaves them (a test compares the two).

Columns that queries need are plain; what is only read back as a whole is one JSON column. Rows are a convenience, facts
are the truth: `facts` and `ledger` are append-only by triggers, which the migrations make.
"""

from headway.store.schema.assets import datasets, models, replicas, services, splits, templates
from headway.store.schema.declare import METADATA
from headway.store.schema.people import (
    cursors,
    departments,
    facts,
    idempotency,
    projects,
    roles,
    tokens,
    users,
    warned,
    world,
)
from headway.store.schema.queue import forecasts, grants, holds, predictions, quota_versions, waits, windows
from headway.store.schema.site import (
    alert_rules,
    alerts,
    channels,
    nodes,
    notices,
    retest_references,
    retests,
    subscriptions,
)
from headway.store.schema.work import (
    attempt_nodes,
    attempt_ranks,
    attempts,
    bills,
    checkpoints,
    drills,
    event_offsets,
    jobs,
    ledger,
    rank_exits,
    verdicts,
)

__all__ = [
    "METADATA",
    "alert_rules",
    "alerts",
    "attempt_nodes",
    "attempt_ranks",
    "attempts",
    "bills",
    "channels",
    "checkpoints",
    "cursors",
    "datasets",
    "departments",
    "drills",
    "event_offsets",
    "facts",
    "forecasts",
    "grants",
    "holds",
    "idempotency",
    "jobs",
    "ledger",
    "models",
    "nodes",
    "notices",
    "predictions",
    "projects",
    "quota_versions",
    "rank_exits",
    "replicas",
    "retest_references",
    "retests",
    "roles",
    "services",
    "splits",
    "subscriptions",
    "templates",
    "tokens",
    "users",
    "verdicts",
    "waits",
    "warned",
    "windows",
    "world",
]
