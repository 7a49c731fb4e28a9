"""The scheduler's immutable view of nodes, jobs and quotas at one moment.

Built by the store, read by everything in this room. It holds no reference to anything live: two equal snapshots give
equal plans.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headway.domain.attempt import Overtaken
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Priority
from headway.domain.quota import Grant, QuotaTree
from headway.domain.resources import Node, Placement, Request
from headway.scheduler.policy import Policy


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job that waits. `resuming`: it was running, broke, and goes on where it was before anything new starts.

    `after` must have ended, `after_ok` succeeded, before it may start; at most `array_cap` jobs of one `array` run at
    once. `protected`: never taken, hence never on borrowed quota; not `preemptible`: never taken for a reservation it
    outlives. `engines`: acceptable engines in order of preference, empty means any. `remaining`: run time by its own
    remaining steps. `awaits`: what must be approved first. `not_before`: it asked to start no earlier.
    """

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
    after: tuple[JobId, ...] = ()
    after_ok: tuple[JobId, ...] = ()
    array: str | None = None
    array_cap: int | None = None
    protected: bool = False
    preemptible: bool = True
    engines: tuple[str, ...] = ()
    excluded: frozenset[str] = frozenset()
    remaining: timedelta | None = None
    awaits: str | None = None
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that has devices. `expected_end` comes from its own remaining steps, when they are known.

    `saved_at`: when its last verified checkpoint was made; work since then is lost if it is taken. `stopping`: it has
    been asked to end and will.
    """

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
    array: str | None = None
    protected: bool = False
    preemptible: bool = True
    saved_at: datetime | None = None
    stopping: bool = False
    overtook: tuple[Overtaken, ...] = ()


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
class Window:
    """A time in which nothing of its scope may run but the jobs of `project` (None: nobody's, a maintenance window).

    `nodes` and `device_type` narrow the scope; empty and None mean all.
    """

    name: str
    begins: datetime
    ends: datetime
    nodes: frozenset[str] = frozenset()
    device_type: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Past run times in seconds, sorted; the same template's history predicts its next run.

    `by_kind` has those of narrower and wider kinds of job (see `predict.kinds_of`).
    """

    by_template: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    by_kind: Mapping[tuple[str, ...], Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a plan depends on. `version` is the store's, to be compared when the plan is applied.

    `quotas` maps (project, device type) to devices, an absent pair means 0; it stands for a flat tree where `tree` is
    None. `usage`: device-hours by (project, device type), decayed to `now` (`share.decayed`). `spent`: this month's
    device-hours, against budgets. `finished`: jobs that others wait for and that have ended, True if they succeeded.
    `arrivals`: submissions of the last days, oldest first, for forecasts. `domain_label`: the node label that names a
    topology domain, as a switch or rack.
    """

    version: int
    now: datetime
    nodes: tuple[Node, ...]
    running: tuple[RunningJob, ...]
    queued: tuple[QueuedJob, ...]
    quotas: Mapping[tuple[str, str], int] = field(default_factory=dict)
    holds: tuple[Hold, ...] = ()
    tree: QuotaTree | None = None
    grants: tuple[Grant, ...] = ()
    usage: Mapping[tuple[str, str], float] = field(default_factory=dict)
    spent: Mapping[tuple[str, str], float] = field(default_factory=dict)
    finished: Mapping[JobId, bool] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    runtimes: Runtimes = Runtimes()
    arrivals: tuple[QueuedJob, ...] = ()
    domain_label: str = "switch"
    policy: Policy = field(default_factory=Policy)
