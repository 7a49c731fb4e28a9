"""Hold a job until what stopped it is put right, and let it go: when somebody says so, or when its node is back.

A held job has no devices and is not in the queue. Let go, it is decided on again, as if the verdict had just come.
"""

from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.verdict import Verdict
from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.hold_events import JobHeld, JobReleased
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.resources import Node, NodeState
from headway.store import attempts, facts, holds, jobs, nodes, verdicts

AWAITS_FIX, AWAITS_NODE = "awaits-fix", "awaits-node"
"""Why a held job is held; the second once its node was seen closed or down: then its return lets the job go."""
ASKED, NODE_BACK = "asked", "node-back"


def hold(c: Connection, job: Job, attempt: Attempt, verdict: Verdict, at: datetime) -> None:
    """Take a broken job out of the running until somebody has acted."""
    holds.drop(c, job.id)
    jobs.move(c, job.id, JobState.HELD, at=at, reason=AWAITS_FIX)
    held = JobHeld(
        at=at,
        by="server",
        job=job.id,
        attempt=attempt.id,
        fault=verdict.fault,
        cause=verdict.cause,
        owner=verdict.owner,
        node=verdict.node,
    )
    facts.append(c, held)


def release(c: Connection, job: Job, *, at: datetime, by: str, reason: str = ASKED) -> Job:
    """Let a held job go on. Raises `not-held` for one that is not."""
    if job.state is not JobState.HELD:
        raise PlatformError("not-held", job=job.id, state=job.state)
    newest = attempts.of_job(c, job.id)[-1]
    facts.append(c, JobReleased(at=at, by=by, job=job.id, attempt=newest.id, reason=reason))
    return jobs.move(c, job.id, JobState.RECOVERING, at=at, reason=reason)


def is_released(c: Connection, attempt: Attempt) -> bool:
    """Whether a job was let go after this attempt."""
    told = facts.last(c, attempt.job, JobReleased)
    return told is not None and told.attempt == attempt.id


def of_returned_nodes(c: Connection) -> list[Job]:
    """Held jobs whose node is open again after it was seen closed, down or gone; notes what is seen of the others."""
    held = jobs.in_states(c, JobState.HELD)
    known = {node.name: node for node in nodes.all(c)} if held else {}
    return [job for job in held if _is_back(c, job, known)]


def _is_back(c: Connection, job: Job, known: dict[str, Node]) -> bool:
    verdict = verdicts.get(c, attempts.of_job(c, job.id)[-1].id)
    if verdict is None or verdict.node is None:
        return False
    node = known.get(verdict.node)
    is_open = node is not None and node.state is NodeState.UP
    if not is_open and job.reason != AWAITS_NODE:
        jobs.set_reason(c, job.id, AWAITS_NODE)
    return is_open and job.reason == AWAITS_NODE
