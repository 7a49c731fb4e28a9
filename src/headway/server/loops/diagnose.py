"""Diagnose: gather the evidence of every attempt that broke, and write the verdict.

The last words of a rank often are the evidence. When the server was away they come after the end: they are waited for.
"""

from datetime import timedelta

from headway.diagnosis.evidence import Evidence, LogTail
from headway.diagnosis.examine import examine
from headway.domain.attempt import Attempt
from headway.domain.events import LaunchFailed, VerdictReached
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.engines.protocol import START_FAILED
from headway.server.loops.abreast import Abreast
from headway.server.operations.settle import LOST
from headway.server.platform import Platform
from headway.store import agents, attempts, drills, facts, jobs, verdicts

TAIL_BYTES = 256 << 10
LOGS_PATIENCE = timedelta(seconds=30)


Broken = tuple[Job, Attempt]


def diagnose() -> Abreast[Broken]:
    """One verdict for each broken attempt that has none."""
    return Abreast("diagnose", _broken, _conclude)


def _broken(platform: Platform) -> dict[str, Broken]:
    with platform.database.read() as c:
        broken = [(job, attempts.of_job(c, job.id)[-1]) for job in jobs.in_states(c, JobState.RECOVERING)]
        waiting = [(job, a) for job, a in broken if a.state == AttemptState.ENDED and verdicts.get(c, a.id) is None]
    return {attempt.id: (job, attempt) for job, attempt in waiting}


def _conclude(platform: Platform, broken: Broken) -> None:
    job, attempt = broken
    if not _has_its_logs(platform, attempt):
        return
    verdict = examine(gather(platform, job, attempt))
    with platform.database.write() as c:
        if verdicts.get(c, attempt.id) is not None:
            return
        verdicts.put(c, verdict)
        reached = VerdictReached(
            at=platform.clock.now(),
            by="server",
            job=job.id,
            attempt=attempt.id,
            fault=verdict.fault,
            owner=verdict.owner,
            rank=verdict.rank,
            node=verdict.node,
        )
        facts.append(c, reached)
    platform.wake("recover")


def _has_its_logs(platform: Platform, attempt: Attempt) -> bool:
    """Whether every byte its agents told of is here, or has been waited for long enough."""
    if attempt.ended_at is not None and platform.clock.now() - attempt.ended_at > LOGS_PATIENCE:
        return True
    with platform.database.read() as c:
        told = [part.streams or {} for part in agents.of_attempt(c, attempt.id)]
    sizes = {int(rank): size for streams in told for rank, size in streams.items()}
    return all(platform.logs.size(attempt.id, rank) >= size for rank, size in sizes.items())


def gather(platform: Platform, job: Job, attempt: Attempt) -> Evidence:
    """Exits first-hand, the last words of each rank, lost agents, and what Headway itself did to the attempt."""
    per_node = job.spec.request.ranks_per_node
    where = {
        index * per_node + local: placement.node
        for index, placement in enumerate(attempt.placements)
        for local in range(per_node)
    }
    with platform.database.read() as c:
        exits = tuple(agents.exits(c, attempt.id))
        parts = agents.of_attempt(c, attempt.id)
        drilled = [drill.rank for drill in drills.of_job(c, job.id) if drill.attempt == attempt.id]
        refused = facts.last(c, job.id, LaunchFailed)
    refusals = [refused.reason] if refused and refused.attempt == attempt.id else []
    failed_start = [part.detail or part.ended_reason for part in parts if part.ended_reason == START_FAILED]
    return Evidence(
        job=job.id,
        attempt=attempt.id,
        nodes=where,
        exits=exits,
        logs={rank: _tail(platform, attempt, rank) for rank in platform.logs.ranks(attempt.id)},
        lost_agents={p.node: p.ended_at for p in parts if p.ended_reason == LOST and p.ended_at is not None},
        stop_reason=attempt.stop_reason,
        launch_error=next(iter(refusals + failed_start), None),
        drill_rank=drilled[-1] if drilled else None,
        last_step=attempt.step,
    )


def _tail(platform: Platform, attempt: Attempt, rank: int) -> LogTail:
    start = max(0, platform.logs.size(attempt.id, rank) - TAIL_BYTES)
    return LogTail(rank, start, platform.logs.read(attempt.id, rank, start, TAIL_BYTES))
