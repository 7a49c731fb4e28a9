"""Drills: a fault made on purpose, and how well the job came through it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.ids import AttemptId, JobId


class Kill(StrEnum):
    """What a drill breaks.

    A rank or an agent dies; a node goes away with all of the attempt on it; a mount fails one save of a node's ranks;
    or a rank stops where it is.
    """

    RANK = "rank"
    AGENT = "agent"
    NODE = "node"
    MOUNT = "mount"
    STOP = "stop"


class Result(StrEnum):
    """How a drill came out. `missed`: the attempt was over before its step came, or it ended well all the same.

    `endured`: the attempt was struck and went on, and has saved since.
    """

    RECOVERED = "recovered"
    ENDURED = "endured"
    NOT_RECOVERED = "not-recovered"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Score:
    """What a drill showed. Seconds by phase are of the recovery, from the fault to the first new step.

    `verdict_right`: whether the verdict, reached without knowing of the drill, named the class and the place of what
    was done; None: there was none. `passed`: the job came past the step at which it was broken. `kept`: it went on from
    no older checkpoint than the newest before the drill; None: that is not what was tried.
    """

    result: Result
    detected: bool
    resumed_step: int | None
    lost_steps: int | None
    seconds: float | None
    phases: dict[str, float]
    verdict_right: bool | None
    passed: bool
    kept: bool | None = None


@dataclass(frozen=True, slots=True)
class Drill:
    """An order to break one attempt of a job at or after a step; `at_step` None: at once.

    `shadow_of`: the job is a copy, made for this drill, of that job. `attempt` None: the copy does not run yet.
    `sent_at`: an agent was told; `done_at`: it has done it; `over_at`: scored.
    """

    id: str
    job: JobId
    rank: int
    at: datetime
    by: str
    attempt: AttemptId | None = None
    kill: Kill = Kill.RANK
    signal: int = 9
    at_step: int | None = None
    shadow_of: JobId | None = None
    sent_at: datetime | None = None
    done_at: datetime | None = None
    over_at: datetime | None = None
    verdict_right: bool | None = None
    score: Score | None = None

    @property
    def has_struck(self) -> bool:
        """Whether it is known to have broken something: storage only once a save has met it."""
        return (self.done_at if self.kill is Kill.MOUNT else self.sent_at) is not None
