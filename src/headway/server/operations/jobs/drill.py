"""Order a drill: one rank of a running job is killed without warning, and the recovery is measured."""

from datetime import datetime

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.events import DrillOrdered
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState
from headway.server.secrets import make_id
from headway.store import attempts, drills, facts

KILL = 9


def drill(c: Connection, job: Job, rank: int, *, at: datetime, by: str) -> str:
    """The drill's id. Raises `illegal-move` unless the job runs, `invalid-field` for a rank it does not have."""
    running = [a for a in attempts.of_job(c, job.id) if a.state == AttemptState.RUNNING]
    if not running:
        raise PlatformError("illegal-move", what="job", before=job.state, after="drill")
    world = job.spec.request.nodes * job.spec.request.ranks_per_node
    if not 0 <= rank < world:
        raise PlatformError("invalid-field", field="rank", value=rank, rule=f"0 … {world - 1}")
    attempt = running[0]
    name = make_id("d")
    drills.order(c, name, job.id, attempt.id, rank, KILL, at, by)
    facts.append(c, DrillOrdered(at=at, by=by, job=job.id, attempt=attempt.id, drill=name, rank=rank))
    return name
