"""One try at running a job on given nodes, and how its processes ended."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.ids import AttemptId, JobId
from headway.domain.lifecycle import AttemptState
from headway.domain.resources import Placement


class Outcome(StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"


PREEMPTED = "preempted"
"""Why an attempt stops, and why its job waits again, when its devices are taken for another job."""

LATE, TIME_LIMIT, TAKEN = "engine-late", "engine-time-limit", "engine-taken"
STALLED = "stalled"
"""Why an attempt stops that hangs: its job goes on with another, as the verdict says."""

BY_ENGINE = frozenset({LATE, TIME_LIMIT, TAKEN})
"""Why an attempt stops when its engine's own queue keeps it waiting or ends it: its job goes on with another."""


@dataclass(frozen=True, slots=True)
class Overtaken:
    """A job that was promised a start; the other was let past it on the word that it would be over by then."""

    job: JobId
    until: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt as it stands. Its devices are taken from `placed_at` until `ended_at`.

    `waiting`: why its engine's own queue has not started it, in that engine's words. `borrowed`: it was placed beyond
    its project's guarantee. `overtook`: jobs before it whose promised nodes it was let onto.
    """

    id: AttemptId
    job: JobId
    number: int
    engine: str
    device_type: str
    placements: tuple[Placement, ...]
    state: AttemptState
    placed_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    resume_from: str | None = None
    resume_step: int = 0
    step: int | None = None
    stop_reason: str | None = None
    borrowed: bool = False
    waiting: str | None = None
    overtook: tuple[Overtaken, ...] = ()

    @property
    def devices(self) -> int:
        return sum(len(placement.devices) for placement in self.placements)


@dataclass(frozen=True, slots=True)
class RankExit:
    """How one rank ended, seen first-hand by its agent: `code` or `signal` is set, or neither if nobody saw it."""

    rank: int
    node: str
    at: datetime
    code: int | None = None
    signal: int | None = None
    signal_name: str | None = None
    core: bool = False
    oom_kill: bool = False
    stopped_by_us: bool = False
    error_message: str | None = None
    error_callstack: str | None = None
    error_at: datetime | None = None

    @property
    def is_clean(self) -> bool:
        return self.code == 0
