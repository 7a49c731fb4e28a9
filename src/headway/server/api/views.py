"""What people get: domain values as they are, put beside what belongs to them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from headway.diagnosis.verdict import Verdict
from headway.domain.attempt import Attempt, RankExit
from headway.domain.checkpoint import LossBill
from headway.domain.job import Job, JobSpec
from headway.domain.service import Replica, Service, Split
from headway.metering.phases import Phases
from headway.scheduler.plan import Forecast, Place
from headway.server.operations.jobs.losses import Choice, Passing

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """One page of a list; `next` is the cursor of the following one."""

    items: list[T]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class JobHeldView:
    """Why a job is held: since when, for what (`cause`: one of the forty classes), whose move it is, and in words."""

    at: datetime
    reason: str
    fault: str
    cause: str | None
    owner: str
    node: str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class WaitView:
    """Why a job waits: its place, who is ahead, one dominant reason with its numbers, and the same in words."""

    position: int
    ahead: list[str]
    reason: str
    numbers: dict[str, Any]
    sentence: str
    advice: str
    reserved_at: datetime | None
    forecast: Forecast | None
    ahead_count: int
    place: Place | None
    order: str | None


@dataclass(frozen=True, slots=True)
class StallView:
    """A running attempt stands still since `since`. `text`: why, in words; None until agents have looked."""

    since: datetime
    text: str | None
    cause: str | None
    rank: int | None
    node: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with what is known of it now. Rates are steps per second; `left_s` seconds.

    `device_seconds`: what all its attempts took so far, waiting apart; the ledger has the same once they have ended.
    `reader`: who reads its progress, `sdk` where it reports by itself; None while nobody has matched its output.
    `phase`: what its output says it does; None: nothing was read yet.
    """

    job: Job
    devices: int
    device_seconds: int
    attempt: Attempt | None
    loss: float | None
    rate: float | None
    left_s: float | None
    last_progress_at: datetime | None
    reader: str | None
    phase: str | None
    waits: WaitView | None
    verdict: Verdict | None
    verdict_text: str | None
    next_step: str | None
    held: JobHeldView | None = None
    stall: StallView | None = None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """An attempt with its exits and its verdict. `cards`: by node, the cards it really had, as its agents told."""

    attempt: Attempt
    exits: list[RankExit]
    verdict: Verdict | None
    verdict_text: str | None
    cards: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class BillView:
    """A loss bill with what follows from it: where the seconds went, and whether the step it broke at was passed.

    `way`: how the job went on: `in-place`, at once where it was, or the code of why it went through the queue.
    `choice`: whose checkpoint was taken, where both the job and its framework had written some.
    """

    bill: LossBill
    lost_steps: int
    kill_to_first_step_s: float | None
    phases: Phases
    passing: Passing
    way: str | None = None
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class IntervalView:
    """What saving every `every_steps` steps would have cost, in device-seconds; `in_use`: it is what was done."""

    every_steps: int
    lost_steps: int
    saves: int
    lost_device_seconds: float
    saving_device_seconds: float
    device_seconds: float
    in_use: bool


@dataclass(frozen=True, slots=True)
class LossView:
    """All failures of a job in sum. `intervals` is empty while its pace or its interval is not known.

    `unfinished`: failures whose step was not passed again yet. `save_s`: the usual seconds of one save.
    """

    failures: int
    lost_steps: int
    device_seconds: int
    outage_s: float
    unfinished: int
    save_s: float | None
    intervals: list[IntervalView]


@dataclass(frozen=True, slots=True)
class CarryView:
    """One thing, whether it is carried over (`yes`, `unsure`, `no`), and that in words."""

    what: str
    carried: str
    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MoveView:
    """What resuming a job would create, from which checkpoint, what it carries over, and when it would start."""

    spec: JobSpec
    step: int
    path: str
    carries: list[CarryView]
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class Recorded:
    """A fact with its place in the list."""

    seq: int
    kind: str
    at: datetime
    by: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServiceView:
    """A service with its replicas, where it is served, and whether the gateway has its present split."""

    service: Service
    split: Split | None
    replicas: list[Replica]
    url: str
    live: bool


@dataclass(frozen=True, slots=True)
class TokenView:
    """A token, told once."""

    token: str
    user: str
