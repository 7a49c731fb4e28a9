"""Lifecycles as tables: which state may follow which, and why.

The tables are the only place that decides what a legal move is; loops ask, they never judge. The diagrams in
`docs/lifecycle.md` are generated from here.
"""

from enum import StrEnum

from headway.domain.errors import PlatformError


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    RECOVERING = "recovering"
    HELD = "held"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_terminal(self) -> bool:
        return self in (JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED)

    @property
    def holds_devices(self) -> bool:
        return self in (JobState.STARTING, JobState.RUNNING, JobState.STOPPING)


class AttemptState(StrEnum):
    """Where an attempt stands. Its devices are taken in every state but `ended`."""

    PLACED = "placed"
    LAUNCHED = "launched"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


JOB_MOVES: dict[tuple[JobState, JobState], str] = {
    (JobState.QUEUED, JobState.STARTING): "the plan gave it devices",
    (JobState.QUEUED, JobState.STOPPED): "stopped while it waited",
    (JobState.QUEUED, JobState.FAILED): "it can no longer run anywhere",
    (JobState.STARTING, JobState.RUNNING): "its first rank runs",
    (JobState.STARTING, JobState.STOPPING): "asked to stop",
    (JobState.STARTING, JobState.RECOVERING): "the attempt ended and the verdict is awaited",
    (JobState.STARTING, JobState.SUCCEEDED): "every rank ended with 0",
    (JobState.STARTING, JobState.STOPPED): "the attempt was stopped",
    (JobState.STARTING, JobState.QUEUED): "the launch was withdrawn",
    (JobState.RUNNING, JobState.SUCCEEDED): "every rank ended with 0",
    (JobState.RUNNING, JobState.STOPPING): "asked to stop",
    (JobState.RUNNING, JobState.STOPPED): "the attempt was stopped",
    (JobState.RUNNING, JobState.RECOVERING): "the attempt ended and the verdict is awaited",
    (JobState.STOPPING, JobState.STOPPED): "its processes are gone",
    (JobState.STOPPING, JobState.SUCCEEDED): "every rank ended with 0 before the stop arrived",
    (JobState.STOPPING, JobState.RECOVERING): "it was taken for another job and goes back to the queue",
    (JobState.RECOVERING, JobState.QUEUED): "it resumes from a verified checkpoint",
    (JobState.RECOVERING, JobState.STARTING): "it begins again at once where it was",
    (JobState.RECOVERING, JobState.HELD): "what stopped it must be put right first",
    (JobState.RECOVERING, JobState.FAILED): "not worth another attempt",
    (JobState.RECOVERING, JobState.STOPPED): "stopped before it resumed",
    (JobState.HELD, JobState.RECOVERING): "let go, or its node is back",
    (JobState.HELD, JobState.STOPPED): "stopped while it was held",
}

ATTEMPT_MOVES: dict[tuple[AttemptState, AttemptState], str] = {
    (AttemptState.PLACED, AttemptState.LAUNCHED): "the engine took the order",
    (AttemptState.PLACED, AttemptState.RUNNING): "its agent spoke before the launch was recorded",
    (AttemptState.PLACED, AttemptState.STOPPING): "asked to stop",
    (AttemptState.PLACED, AttemptState.ENDED): "the engine refused the order",
    (AttemptState.LAUNCHED, AttemptState.RUNNING): "its first rank runs",
    (AttemptState.LAUNCHED, AttemptState.STOPPING): "asked to stop",
    (AttemptState.LAUNCHED, AttemptState.ENDED): "it ended before it ran",
    (AttemptState.RUNNING, AttemptState.STOPPING): "asked to stop, or a rank of its gang ended badly",
    (AttemptState.RUNNING, AttemptState.ENDED): "every agent reported its end, or was lost",
    (AttemptState.STOPPING, AttemptState.ENDED): "every agent reported its end, or was lost",
}


def check_job_move(before: JobState, after: JobState) -> None:
    """Raise `illegal-move` unless the table allows a job to go from `before` to `after`."""
    if (before, after) not in JOB_MOVES:
        raise PlatformError("illegal-move", what="job", before=before, after=after)


def check_attempt_move(before: AttemptState, after: AttemptState) -> None:
    """Raise `illegal-move` unless the table allows an attempt to go from `before` to `after`."""
    if (before, after) not in ATTEMPT_MOVES:
        raise PlatformError("illegal-move", what="attempt", before=before, after=after)


def diagram(
    moves: dict[tuple[JobState, JobState], str] | dict[tuple[AttemptState, AttemptState], str],
) -> str:
    """A Mermaid state diagram of one table."""
    lines = [f"    {before} --> {after}: {why}" for (before, after), why in moves.items()]
    return "\n".join(["stateDiagram-v2", *lines])
