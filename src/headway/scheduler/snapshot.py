"""The scheduler's immutable view of nodes, jobs and quotas at one moment.

Built by the store, read by everything in this room. It holds no reference to anything live: two equal snapshots give
equal plans.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Priority
from headway.domain.resources import Node, Placement, Request


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job that waits. `resuming`: it was running, broke, and goes on where it was before anything new starts."""

    id: JobId
    name: str
    project: str
    owner: str
    priority: Priority
    request: Request
    submitted_at: datetime
    template: str
    limit: timedelta | None = None
    resuming: bool = False


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that has devices. `expected_end` comes from its own remaining steps, when they are known."""

    id: JobId
    attempt: AttemptId
    name: str
    project: str
    owner: str
    priority: Priority
    device_type: str
    placements: tuple[Placement, ...]
    placed_at: datetime
    template: str
    limit: timedelta | None = None
    expected_end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Devices kept for one job until a moment: nobody else may have them.

    They count against the job's project: the queued job's, or `project` while it is not (yet) in the queue.
    """

    job: JobId
    device_type: str
    placements: tuple[Placement, ...]
    until: datetime
    project: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a plan depends on. `version` is the store's, to be compared when the plan is applied.

    `quotas` maps (project, device type) to devices; a pair that is absent means 0.
    """

    version: int
    now: datetime
    nodes: tuple[Node, ...]
    running: tuple[RunningJob, ...]
    queued: tuple[QueuedJob, ...]
    quotas: Mapping[tuple[str, str], int]
    holds: tuple[Hold, ...] = ()


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Past run times in seconds by template, sorted; the same template's history predicts its next run."""

    by_template: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
