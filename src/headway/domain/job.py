"""What a user submits: a job, its specification, its priority and its policies."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from headway.domain.ids import JobId
from headway.domain.lifecycle import JobState
from headway.domain.resources import Request


class JobKind(StrEnum):
    """Every use of cards is a job in one queue with one ledger; services are billed by resident time."""

    TRAINING = "training"
    BATCH = "batch"
    SERVICE = "service"


class Priority(StrEnum):
    """Five named classes, most urgent first."""

    URGENT = "urgent"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"
    IDLE = "idle"

    @property
    def order(self) -> int:
        """0 for the most urgent class."""
        return list(Priority).index(self)


class Launcher(StrEnum):
    """Whether the agent starts each rank itself or one torchrun a node."""

    RANKS = "ranks"
    TORCHRUN = "torchrun"


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """How often the program is told to save, and which checkpoints stay.

    At most one of `every_steps`, `every` and `advised` is set; none: the program decides. An advice stays between
    `shortest` and `longest`. Kept are the last `keep`, those of every `keep_every_steps`, and the `keep_best` by
    `metric`, the lowest unless `highest`. `resume`: words put after the command where an attempt goes on from a
    checkpoint, with its `{checkpoint}`, `{checkpoint_parent}`, `{checkpoint_name}` and `{checkpoint_step}`.
    """

    every_steps: int | None = None
    keep: int = 5
    every: timedelta | None = None
    advised: bool = False
    shortest: timedelta = timedelta(minutes=1)
    longest: timedelta = timedelta(hours=6)
    keep_every_steps: int | None = None
    keep_best: int = 0
    metric: str = "loss"
    highest: bool = False
    resume: tuple[str, ...] = ()


class WhenStalled(StrEnum):
    """What becomes of a job that hangs: stopped with its evidence, to go on as the verdict says; or only told of."""

    RESTART = "restart"
    TELL = "tell"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class RecoveryPolicy:
    """How often a job may be resumed after failures, and how long a stop waits before it kills.

    `stall_after`: the least silence that is called a stall, however short the steps.
    """

    retries: int = 3
    grace: timedelta = timedelta(seconds=30)
    when_stalled: WhenStalled = WhenStalled.RESTART
    stall_after: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Conditions:
    """When and where a job may start, and whether it may be taken.

    `after` must have ended, `after_ok` succeeded; at most `array_cap` jobs of one `array` run at once. `protected`: it
    is never taken, hence never runs on borrowed quota. `engines`: acceptable ones in order of preference, empty means
    any; `excluded`: nodes it must not use. `pinned`: exactly these nodes, once nothing runs there, cordoned or not: for
    retests, which the queue's plan leaves alone.
    """

    after: tuple[JobId, ...] = ()
    after_ok: tuple[JobId, ...] = ()
    array: str | None = None
    array_cap: int | None = None
    protected: bool = False
    engines: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    not_before: datetime | None = None
    pinned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """The checkpoint of another job that a job goes on from: only read, and only until it has one of its own.

    `format`: the framework that wrote it in its own way, or `headway` for the in-job SDK.
    """

    job: JobId
    path: str
    step: int
    format: str = "headway"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """Everything needed to launch a job, with the template's blanks already filled in."""

    name: str
    project: str
    kind: JobKind
    template: str
    command: tuple[str, ...]
    request: Request
    launcher: Launcher = Launcher.RANKS
    priority: Priority = Priority.NORMAL
    parameters: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    workdir: str | None = None
    limit: timedelta | None = None
    checkpoint: CheckpointPolicy = CheckpointPolicy()
    recovery: RecoveryPolicy = RecoveryPolicy()
    dataset: str | None = None
    commit: str | None = None
    ready_path: str | None = None
    conditions: Conditions = Conditions()
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A submitted job as it stands; the facts tell how it came there. Preemptions are no failures.

    `avoids`: nodes that broke it, as its verdicts say; it is kept away from them wherever it could run elsewhere.
    """

    id: JobId
    spec: JobSpec
    owner: str
    state: JobState
    submitted_at: datetime
    attempts: int = 0
    failures: int = 0
    step: int | None = None
    total: int | None = None
    reason: str | None = None
    ended_at: datetime | None = None
    preemptions: int = 0
    avoids: tuple[str, ...] = ()
