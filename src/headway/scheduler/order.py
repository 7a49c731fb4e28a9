"""The order of the queue, and each job's place in it.

Decides who is asked first: jobs that resume, then priority class, then age; the id breaks ties. Whether a job starts is
not decided here.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime

from headway.domain.errors import Language, message
from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.scheduler.snapshot import QueuedJob

_CLASSES = {priority: priority.order for priority in Priority}


def in_order(queued: Iterable[QueuedJob]) -> list[QueuedJob]:
    """The queue, first in line first."""
    return sorted(queued, key=_key)


def sentence(job: QueuedJob, language: Language) -> str:
    """Why a job stands where it stands."""
    code = "order-resuming" if job.resuming else "order-new"
    since = job.submitted_at.isoformat(timespec="seconds")
    return message(code, {"job": job.id, "priority": job.priority.value, "since": since}, language)


def ahead_of_each(waiting: Sequence[tuple[JobId, tuple[Hashable, ...]]]) -> Iterator[tuple[JobId, ...]]:
    """For each waiting job, given in order with the pools it may use: the jobs before it that may use one of them."""
    lines: dict[tuple[Hashable, ...], list[JobId]] = {pools: [] for _, pools in waiting}
    rivals = {pools: [lines[others] for others in lines if set(pools) & set(others)] for pools in lines}
    for job, pools in waiting:
        yield tuple(lines[pools])
        for line in rivals[pools]:
            line.append(job)


def _key(job: QueuedJob) -> tuple[bool, int, datetime, JobId]:
    return (not job.resuming, _CLASSES[job.priority], job.submitted_at, job.id)
