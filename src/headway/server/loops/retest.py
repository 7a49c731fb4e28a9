"""Retest: start the retests whose nodes are idle, judge those that ended, open the nodes whose cordon is over.

An engine's own cordon keeps everybody out, a retest too: it is lifted while the retest runs, and Headway's stays.
"""

import asyncio

import structlog

from headway.diagnosis.cases.retest import Outcome
from headway.domain.errors import PlatformError
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.resources import Placement
from headway.scheduler.plan import Start
from headway.server.operations.agents import last_words
from headway.server.operations.nodes import cordoning, retesting
from headway.server.platform import Platform
from headway.store import attempts, jobs, nodes, retests
from headway.store.apply import place
from headway.store.retests import Retest

log = structlog.get_logger("headway.retests")


async def retest(platform: Platform) -> None:
    """One look at every open retest and every cordon that may be over."""
    for one in await asyncio.to_thread(_ready, platform):
        await _start(platform, one)
    for ended, job in await asyncio.to_thread(_ended, platform):
        await _conclude(platform, ended, job)
    for name in await asyncio.to_thread(_over, platform):
        await _reopen(platform, name)


def _ready(platform: Platform) -> list[Retest]:
    with platform.database.read() as c:
        waiting = retests.still_open(c)
        if not waiting:
            return []
        live = attempts.live(c)
        queued = {job.id for job in jobs.in_states(c, JobState.QUEUED)}
        return [one for one in waiting if one.job in queued and retesting.is_idle(c, one, live)]


async def _start(platform: Platform, one: Retest) -> None:
    try:
        for name in one.nodes:
            await cordoning.open_in_engine(platform, name)
    except PlatformError as error:
        log.warning("retest waits for its engine", retest=one.id, error=str(error))
        return
    if await asyncio.to_thread(_place, platform, one):
        platform.wake("dispatch")


def _place(platform: Platform, one: Retest) -> bool:
    placements = tuple(Placement(name, tuple(range(one.shape.devices_per_node))) for name in one.nodes)
    start = Start(one.job, one.shape.engine, one.shape.device_type, placements)
    with platform.database.write() as c:
        job = jobs.get(c, one.job)
        if job is None or job.state is not JobState.QUEUED or not retesting.is_idle(c, one, attempts.live(c)):
            return False
        place(c, start, platform.clock.now(), platform.tokens.digest_of)
    return True


def _ended(platform: Platform) -> list[tuple[Retest, Job]]:
    with platform.database.read() as c:
        pairs = [(one, jobs.get(c, one.job)) for one in retests.still_open(c)]
    return [(one, job) for one, job in pairs if job is not None and job.state.is_terminal]


async def _conclude(platform: Platform, one: Retest, job: Job) -> None:
    outcome = await asyncio.to_thread(_judge, platform, one, job)
    if outcome is None or outcome is Outcome.PASSED:
        return
    for name in one.nodes:
        await cordoning.close_in_engine(platform, one.shape.engine, name, f"retest {outcome}")


def _judge(platform: Platform, one: Retest, job: Job) -> Outcome | None:
    with platform.database.read() as c:
        tries = attempts.of_job(c, job.id)
    last = tries[-1] if tries else None
    if last is not None and last.ended_at is not None:
        waited = platform.clock.now() - last.ended_at
        if waited <= last_words.PATIENCE and not last_words.are_here(platform, last.id):
            return None
    succeeded = last is not None and job.state is JobState.SUCCEEDED
    said = retesting.read_result(platform, last) if last is not None and succeeded else None
    with platform.database.write() as c:
        return retesting.conclude(platform, c, one, job, said)


def _over(platform: Platform) -> list[str]:
    now = platform.clock.now()
    with platform.database.read() as c:
        closed = nodes.cordons(c)
    return [name for name, one in closed.items() if one.until and one.until <= now and not one.needs_retest]


async def _reopen(platform: Platform, name: str) -> None:
    try:
        found = await cordoning.open_in_engine(platform, name)
    except PlatformError as error:
        log.warning("cordon is over but its engine is away", node=name, error=str(error))
        return
    await asyncio.to_thread(cordoning.open_up, platform, name, found, "server")
    platform.wake("schedule", "observe")
