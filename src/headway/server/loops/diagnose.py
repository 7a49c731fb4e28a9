"""Diagnose: gather the evidence of every attempt that broke, and write the verdict.

The last words of a rank often are the evidence. When the server was away they come after the end: they are waited for.
"""

import asyncio
from datetime import datetime, timedelta

from headway.diagnosis.evidence import Evidence, LogTail
from headway.diagnosis.examine import examine
from headway.domain.attempt import Attempt
from headway.domain.events import LaunchFailed, VerdictReached
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.engines.protocol import Cause
from headway.server.operations.settle import LOST
from headway.server.platform import Platform
from headway.store import agents, attempts, drills, facts, jobs, verdicts
from headway.store.agents import NodeReport

TAIL_BYTES = 256 << 10
NODE_FAILURES = frozenset({Cause.NODE_FAIL, Cause.BOOT_FAIL})
LOGS_PATIENCE = timedelta(seconds=30)


async def diagnose(platform: Platform) -> None:
    """One verdict for each broken attempt that has none."""
    if await asyncio.to_thread(_diagnose, platform):
        platform.wake("recover")


def _diagnose(platform: Platform) -> bool:
    with platform.database.read() as c:
        broken = [(job, attempts.of_job(c, job.id)[-1]) for job in jobs.in_states(c, JobState.RECOVERING)]
        waiting = [(job, a) for job, a in broken if a.state == AttemptState.ENDED and verdicts.get(c, a.id) is None]
    ready = [(job, attempt) for job, attempt in waiting if _has_its_logs(platform, attempt)]
    for job, attempt in ready:
        verdict = examine(gather(platform, job, attempt))
        with platform.database.write() as c:
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
    return bool(ready)


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
        refused = [recorded.fact for recorded in facts.since(c, 0, job=job.id, kinds={LaunchFailed.kind})]
    refusals = [fact.reason for fact in refused if isinstance(fact, LaunchFailed) and fact.attempt == attempt.id]
    failed_start = [part.detail or part.ended_reason for part in parts if part.ended_reason == "start-failed"]
    return Evidence(
        job=job.id,
        attempt=attempt.id,
        nodes=where,
        exits=exits,
        logs={rank: _tail(platform, attempt, rank) for rank in platform.logs.ranks(attempt.id)},
        lost_agents={p.node: _lost_at(p) for p in parts if p.ended_reason == LOST},
        failed_nodes=frozenset(part.node for part in parts if part.cause in NODE_FAILURES),
        stop_reason=attempt.stop_reason,
        launch_error=next(iter(refusals + failed_start), None),
        drill_rank=drilled[-1] if drilled else None,
        last_step=attempt.step,
    )


def _lost_at(part: NodeReport) -> datetime:
    """When it was given up; a node that failed went when it was last heard of, whenever that was noticed."""
    return part.last_at if part.cause in NODE_FAILURES or part.ended_at is None else part.ended_at


def _tail(platform: Platform, attempt: Attempt, rank: int) -> LogTail:
    start = max(0, platform.logs.size(attempt.id, rank) - TAIL_BYTES)
    return LogTail(rank, start, platform.logs.read(attempt.id, rank, start, TAIL_BYTES))
