"""Dispatch: hand every placed attempt to its engine. Launching twice is harmless: the engine knows the attempt's id."""

import asyncio
import os
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath

import structlog
from sqlalchemy import Connection

from headway.domain.attempt import Attempt, Outcome
from headway.domain.errors import PlatformError
from headway.domain.events import AttemptLaunched, LaunchFailed
from headway.domain.job import Job, JobKind
from headway.domain.lifecycle import AttemptState
from headway.domain.recovery_events import RecoveryDecided
from headway.domain.template import fill
from headway.engines.become import hand_over, needs_sudo
from headway.engines.protocol import Handle, LaunchOrder, NodeOrder, Sight, UnixUser
from headway.server.operations.agents.ranks import ranks_of
from headway.server.operations.jobs.bills import after_launch
from headway.server.operations.jobs.cadence import first_interval
from headway.server.operations.jobs.fencing import fence
from headway.server.operations.jobs.keeping import is_thinned
from headway.server.operations.jobs.settle import finish
from headway.server.operations.people.unix import check_account
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs

log = structlog.get_logger("headway.dispatch")


@dataclass(frozen=True, slots=True)
class Resume:
    """What an attempt starts from; None and 0: from the beginning."""

    path: str | None = None
    step: int = 0


FROM_THE_START = Resume()


async def dispatch(platform: Platform) -> None:
    """Hand over, all at once, every attempt whose launch is not recorded: new ones, and those of a killed server."""
    waiting = await asyncio.to_thread(_unlaunched, platform)
    await asyncio.gather(*(_hand_over(platform, attempt) for attempt in waiting))


def _unlaunched(platform: Platform) -> list[Attempt]:
    with platform.database.read() as c:
        return [attempt for attempt in attempts.live(c) if attempts.handle(c, attempt.id) is None]


async def _hand_over(platform: Platform, attempt: Attempt) -> None:
    try:
        if attempt.state == AttemptState.STOPPING:
            await _withdraw(platform, attempt)
        else:
            await _launch(platform, attempt)
    except PlatformError as error:
        if error.code == "engine-unreachable":
            log.warning("launch postponed", attempt=attempt.id, error=str(error))
        else:
            await asyncio.to_thread(_refused, platform, attempt, error)


async def _launch(platform: Platform, attempt: Attempt) -> None:
    order, resume = await asyncio.to_thread(_order, platform, attempt)
    handle = await platform.engines[attempt.engine].launch(order)
    await asyncio.to_thread(_launched, platform, attempt, resume, handle)


async def _withdraw(platform: Platform, attempt: Attempt) -> None:
    """Asked to stop before its launch was recorded: if an earlier server started it, it is found again and stopped."""
    handle = Handle(attempt.id, attempt.engine, tuple(placement.node for placement in attempt.placements))
    sights = {seen.sight for seen in await platform.engines[attempt.engine].observe([handle])}
    if sights == {Sight.ABSENT}:
        await asyncio.to_thread(_end, platform, attempt, Outcome.STOPPED)
    elif Sight.UNKNOWN not in sights:
        await asyncio.to_thread(_remember, platform, attempt, handle)


def _order(platform: Platform, attempt: Attempt) -> tuple[LaunchOrder, Resume]:
    with platform.database.read() as c:
        job = jobs.get(c, attempt.job)
        assert job is not None
        user = check_account(platform.settings, c, job.owner, [platform.engines[attempt.engine]])
        resume = _resume(c, job, attempt)
        every = first_interval(c, job, attempt, platform.clock.now())
    try:
        order = order_of(platform, attempt, job, user, resume, every)
        if attempt.number > 1:
            fence(platform.checkpoints / job.id, attempt, user)
        return order, resume
    except Exception as problem:
        # Nothing was started, and asking again would give the same: the job must not wait for ever, and be billed.
        log.exception("no order", attempt=attempt.id)
        detail = f"{type(problem).__name__}: {problem}"
        raise PlatformError("launch-refused", engine=attempt.engine, attempt=attempt.id, detail=detail) from problem


def order_of(
    platform: Platform,
    attempt: Attempt,
    job: Job,
    user: UnixUser | None,
    resume: Resume = FROM_THE_START,
    every: timedelta | None = None,
) -> LaunchOrder:
    """What the engine needs to start an attempt; `every`: how often it is to save, where that is told in time."""
    ranks = ranks_of(job, attempt)
    nodes = tuple(
        NodeOrder(placement.node, placement.devices, tuple(ranks[placement.node])) for placement in attempt.placements
    )
    return LaunchOrder(
        attempt=attempt.id,
        job=job.id,
        number=attempt.number,
        nodes=nodes,
        device_type=attempt.device_type,
        launcher=job.spec.launcher,
        command=job.spec.command + _resume_words(job, resume),
        env=_checkpoint_env(job, every) | job.spec.env,
        workdir=job.spec.workdir,
        server_url=platform.url,
        token=platform.tokens.of(attempt.id),
        grace=job.spec.recovery.grace,
        user=user,
        log_limits=platform.settings.log_limits,
        checkpoint_dir=str(_checkpoint_folder(platform, job, user)),
        resume_from=resume.path,
        wants_port=job.spec.kind == JobKind.SERVICE,
        project=job.spec.project,
    )


def _checkpoint_env(job: Job, every: timedelta | None) -> dict[str, str]:
    """The checkpoint policy, as the in-job SDK reads it."""
    policy = job.spec.checkpoint
    told = {
        "HEADWAY_CHECKPOINT_EVERY": policy.every_steps,
        "HEADWAY_CHECKPOINT_SECONDS": None if every is None else round(every.total_seconds(), 3),
        "HEADWAY_CHECKPOINT_KEEP": None if is_thinned(policy) else policy.keep,
    }
    return {name: str(value) for name, value in told.items() if value is not None}


def _resume_words(job: Job, resume: Resume) -> tuple[str, ...]:
    """What a program that does not know Headway is told of the checkpoint it goes on from."""
    if resume.path is None:
        return ()
    path = PurePosixPath(resume.path)
    parts = {
        "checkpoint": str(path),
        "checkpoint_parent": str(path.parent),
        "checkpoint_name": path.name,
        "checkpoint_step": str(resume.step),
    }
    return tuple(fill(parts, word) for word in job.spec.checkpoint.resume)


def _resume(c: Connection, job: Job, attempt: Attempt) -> Resume:
    """The checkpoint that the last recovery verified and decided on; a first attempt starts where its job began."""
    decided = facts.last(c, attempt.job, RecoveryDecided) if attempt.number > 1 else None
    if decided:
        return Resume(decided.resume_from, decided.resume_step)
    return Resume(job.spec.origin.path, job.spec.origin.step) if job.spec.origin else Resume()


def _checkpoint_folder(platform: Platform, job: Job, user: UnixUser | None) -> Path:
    """The job's own; a server killed between making it and giving it away gives it away the next time."""
    folder = platform.checkpoints / job.id
    if user is not None and needs_sudo(user):
        hand_over(user, platform.checkpoints, [job.id])
        return folder
    folder.mkdir(mode=0o700, exist_ok=True)
    if user is not None and folder.stat().st_uid != user.uid:
        os.chown(folder, user.uid, user.gid)
    return folder


def _launched(platform: Platform, attempt: Attempt, resume: Resume, handle: Handle) -> None:
    """Record a launch, once. Its agent may have spoken already: then the attempt runs, and goes on running."""
    now = platform.clock.now()
    with platform.database.write() as c:
        present = attempts.get(c, attempt.id)
        if present is None or attempts.handle(c, attempt.id) is not None:
            return
        attempts.set_handle(c, attempt.id, asdict(handle))
        attempts.set_resume(c, attempt.id, resume.path, resume.step)
        if present.state == AttemptState.PLACED:
            attempts.move(c, attempt.id, AttemptState.LAUNCHED, at=now)
        launched = AttemptLaunched(
            at=now,
            by="server",
            job=attempt.job,
            attempt=attempt.id,
            resume_from=resume.path,
            resume_step=resume.step,
        )
        facts.append(c, launched)
        after_launch(c, attempt, now)


def _remember(platform: Platform, attempt: Attempt, handle: Handle) -> None:
    with platform.database.write() as c:
        attempts.set_handle(c, attempt.id, asdict(handle))
    platform.wake("observe")


def _refused(platform: Platform, attempt: Attempt, error: PlatformError) -> None:
    log.warning("launch refused", attempt=attempt.id, error=str(error))
    _end(platform, attempt, Outcome.FAILED, reason=str(error))


def _end(platform: Platform, attempt: Attempt, outcome: Outcome, reason: str | None = None) -> None:
    """End an attempt of which nothing was started; `reason`: why its launch was refused."""
    now = platform.clock.now()
    with platform.database.write() as c:
        present = attempts.get(c, attempt.id)
        if present is None or present.state != attempt.state:
            return
        if reason is not None:
            facts.append(c, LaunchFailed(at=now, by="server", job=attempt.job, attempt=attempt.id, reason=reason))
        finish(c, present, outcome, at=now, hold=platform.settings.hold)
    platform.wake("diagnose", "schedule", "meter")
