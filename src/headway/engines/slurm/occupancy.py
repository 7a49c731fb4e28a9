"""What people outside Headway use of the nodes, and which of Headway's jobs Slurm will soon end. Pure."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from headway.domain.ids import AttemptId
from headway.domain.resources import Occupied
from headway.engines.protocol import Notice
from headway.engines.slurm.inventory import SlurmNode
from headway.engines.slurm.jobs import Job

# Slurm keeps limits in minutes: an end earlier than this before the limit is not the limit's.
LIMIT_GRAIN = timedelta(minutes=1)


def occupied(jobs: Iterable[Job], nodes: Sequence[SlurmNode], is_ours: Callable[[Job], bool]) -> tuple[Occupied, ...]:
    """Devices of each node that jobs not ours have: a job's are spread evenly; where they are not, rounded up."""
    found = []
    for job in jobs:
        if job.is_over or not job.hosts or not job.gres or is_ours(job):
            continue
        for node in nodes:
            held = [other for other in nodes if other.host in job.hosts and other.device_type == node.device_type]
            if node in held and (total := job.gres.get(node.device_type, 0)):
                found.append(Occupied(node.name, min(node.devices, -(-total // len(held))), job.user, job.ends))
    return tuple(found)


def coming_end(
    attempt: AttemptId, job: Job, limit: timedelta | None, notice: timedelta, now: datetime
) -> Notice | None:
    """A notice if Slurm will end this running job soon: at its time limit, or earlier because it is preempted."""
    if job.state != "RUNNING" or job.ends is None or job.started is None or job.ends > now + notice:
        return None
    at_limit = limit is not None and job.ends >= job.started + limit - LIMIT_GRAIN
    return Notice(attempt, "time-limit" if at_limit else "preempted", job.ends)
