"""Diagnose: gather the evidence of every attempt that broke, and write the verdict.

The last words of a rank often are the evidence. When the server was away they come after the end: they are waited for.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.diagnosis.drilled import as_drill, is_right
from headway.diagnosis.evidence import Evidence, LogTail, MachineWord
from headway.diagnosis.examine import examine
from headway.domain.attempt import Attempt
from headway.domain.drill import Kill
from headway.domain.events import AttemptPlaced, LaunchFailed, VerdictReached
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.node_events import NodeFaultSeen
from headway.engines.protocol import START_FAILED, Cause
from headway.server.loops.abreast import Abreast
from headway.server.operations.agents import last_words
from headway.server.operations.agents.ranks import ranks_of
from headway.server.operations.agents.scenes import scenes_of
from headway.server.operations.jobs.settle import LOST
from headway.server.platform import Platform
from headway.store import agents, attempts, drills, facts, jobs, verdicts
from headway.store.agents import NodeReport

MOST_BYTES, LEAST_OF_RANK, MOST_OF_RANK = 64 << 20, 64 << 10, 1 << 20
"""Bytes of logs that one verdict reads, shared among its ranks, and what a rank gets of them at least and at most."""
BEFORE_IT, AFTER_IT = timedelta(minutes=5), timedelta(minutes=1)
"""What an attempt's nodes said of themselves so long before its last end, and so soon after, is evidence."""
NODE_FAILURES = frozenset({Cause.NODE_FAIL, Cause.BOOT_FAIL})


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
    evidence = gather(platform, job, attempt)
    with platform.database.read() as c:
        struck = drills.struck(c, attempt.id, job.id)
    verdict = examine(evidence)
    blind = examine(replace(evidence, drill_rank=None)) if struck else verdict
    verdict = as_drill(verdict) if struck else verdict
    with platform.database.write() as c:
        if verdicts.get(c, attempt.id) is not None:
            return
        verdicts.put(c, verdict)
        for drill in struck:
            drills.judged(c, drill.id, is_right(drill.kill, drill.rank, evidence.nodes.get(drill.rank), blind))
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
    """Whether its last words are here, or have been waited for long enough."""
    waited = None if attempt.ended_at is None else platform.clock.now() - attempt.ended_at
    return (waited is not None and waited > last_words.PATIENCE) or last_words.are_here(platform, attempt.id)


def gather(platform: Platform, job: Job, attempt: Attempt) -> Evidence:
    """Exits first-hand, the last words of each rank, lost agents, and what Headway itself did to the attempt."""
    with platform.database.read() as c:
        exits = tuple(agents.exits(c, attempt.id))
        parts = agents.of_attempt(c, attempt.id)
        drilled = [drill.rank for drill in drills.struck(c, attempt.id, job.id) if drill.kill is Kill.RANK]
        refused = facts.last(c, job.id, LaunchFailed)
        machines = tuple(_machines(c, job, attempt, min((one.at for one in exits), default=None)))
    refusals = [refused.reason] if refused and refused.attempt == attempt.id else []
    failed_start = [part.detail or part.ended_reason for part in parts if part.ended_reason == START_FAILED]
    return Evidence(
        job=job.id,
        attempt=attempt.id,
        nodes={rank: node for node, ranks in ranks_of(job, attempt).items() for rank in ranks},
        exits=exits,
        logs=_tails(platform, attempt),
        lost_agents={p.node: _lost_at(p) for p in parts if p.ended_reason == LOST},
        failed_nodes=frozenset(part.node for part in parts if part.cause in NODE_FAILURES),
        stop_reason=attempt.stop_reason,
        launch_error=next(iter(refusals + failed_start), None),
        drill_rank=drilled[-1] if drilled else None,
        last_step=attempt.step,
        scenes=scenes_of(platform, attempt.id),
        machines=machines,
        ended_for={part.node: str(part.cause) for part in parts if part.cause is not None},
    )


def _machines(c: Connection, job: Job, attempt: Attempt, first: datetime | None) -> Iterator[MachineWord]:
    """What the kernels and card tools of its nodes told around its first end, each with the rank whose card it was."""
    at = first or attempt.ended_at
    where = {placement.node: placement for placement in attempt.placements}
    ranks = ranks_of(job, attempt)
    placed = facts.since(c, 0, job=job.id, kinds=(AttemptPlaced.kind,))
    told = facts.since(c, placed[-1].seq, kinds=(NodeFaultSeen.kind,)) if placed and at is not None else []
    for fact in (recorded.fact for recorded in told):
        if (
            at is not None
            and isinstance(fact, NodeFaultSeen)
            and fact.node in where
            and at - BEFORE_IT <= fact.at <= at + AFTER_IT
        ):
            devices, here = where[fact.node].devices, ranks[fact.node]
            is_one = fact.device in devices and len(devices) == len(here)
            rank = here[devices.index(fact.device)] if is_one and fact.device is not None else None
            yield MachineWord(fact.node, fact.at, fact.text, rank)


def _tails(platform: Platform, attempt: Attempt) -> dict[int, LogTail]:
    ranks = platform.logs.ranks(attempt.id)
    share = min(MOST_OF_RANK, max(LEAST_OF_RANK, MOST_BYTES // max(len(ranks), 1)))
    return {rank: _tail(platform, attempt, rank, share) for rank in ranks}


def _lost_at(part: NodeReport) -> datetime:
    """When it was given up; a node that failed went when it was last heard of, whenever that was noticed."""
    return part.last_at if part.cause in NODE_FAILURES or part.ended_at is None else part.ended_at


def _tail(platform: Platform, attempt: Attempt, rank: int, most: int) -> LogTail:
    """The last words of a rank: what comes after the last damage, if its log is damaged."""
    size = platform.logs.size(attempt.id, rank)
    tail = LogTail(rank, max(0, size - most), b"")
    while (end := tail.offset + len(tail.data)) < size:
        start, data = platform.logs.read_sound(attempt.id, rank, end, size - end)
        if not data:
            break
        tail = LogTail(rank, start, data)
    return tail
