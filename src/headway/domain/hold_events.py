"""Facts about jobs that are held until what stopped them is put right: held, and let go."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHeld(Event):
    """It would stop again at once: it waits for whose move it is. `cause`: the class of it; `node`: where it was."""

    kind: ClassVar[str] = "job-held"
    job: JobId
    attempt: AttemptId
    fault: str
    cause: str | None
    owner: str
    node: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReleased(Event):
    """It may go on: somebody said so (`asked`), or its node is back (`node-back`)."""

    kind: ClassVar[str] = "job-released"
    job: JobId
    attempt: AttemptId
    reason: str
