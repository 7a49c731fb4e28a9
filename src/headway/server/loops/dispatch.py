"""Dispatch: hand every placed attempt to its engine. Launching twice is harmless: the engine knows the attempt's id."""

import asyncio
import os
from dataclasses import asdict
from pathlib import Path

import structlog

from headway.domain.attempt import Attempt, Outcome
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.errors import PlatformError
from headway.domain.events import AttemptLaunched, LaunchFailed
from headway.domain.job import Job, JobKind
from headway.domain.lifecycle import AttemptState
from headway.engines.protocol import Handle, LaunchOrder, NodeOrder, UnixUser
from headway.server.operations.bills import after_launch
from headway.server.operations.settle import finish
from headway.server.operations.unix import check_account
from headway.server.platform import Platform
from headway.store import attempts, checkpoints, facts, jobs

log = structlog.get_logger("headway.dispatch")


async def dispatch(platform: Platform) -> None:
    """Launch all placed attempts at once."""
    orders = await asyncio.to_thread(_orders, platform)
    await asyncio.gather(*(_launch(platform, attempt, order) for attempt, order in orders))


async def _launch(platform: Platform, attempt: Attempt, order: LaunchOrder) -> None:
    try:
        handle = await platform.engines[attempt.engine].launch(order)
    except PlatformError as error:
        if error.code == "engine-unreachable":
            log.warning("launch postponed", attempt=attempt.id, error=str(error))
            return
        await asyncio.to_thread(_refused, platform, attempt, error)
        return
    await asyncio.to_thread(_launched, platform, attempt, order, handle)


def _orders(platform: Platform) -> list[tuple[Attempt, LaunchOrder]]:
    with platform.database.read() as c:
        placed = [attempt for attempt in attempts.live(c) if attempt.state == AttemptState.PLACED]
        found = [(attempt, jobs.get(c, attempt.job)) for attempt in placed]
        users = {job.owner: check_account(platform.settings, c, job.owner) for _, job in found if job}
        resumes = {attempt.id: _resume_path(attempt, checkpoints.of_job(c, attempt.job)) for attempt in placed}
    return [
        (attempt, order_of(platform, attempt, job, users[job.owner], resumes[attempt.id]))
        for attempt, job in found
        if job is not None
    ]


def order_of(platform: Platform, attempt: Attempt, job: Job, user: UnixUser | None, resume: str | None) -> LaunchOrder:
    """What the engine needs to start an attempt: ranks are numbered node by node."""
    per_node = job.spec.request.ranks_per_node
    nodes = tuple(
        NodeOrder(placement.node, placement.devices, tuple(range(index * per_node, (index + 1) * per_node)))
        for index, placement in enumerate(attempt.placements)
    )
    return LaunchOrder(
        attempt=attempt.id,
        job=job.id,
        number=attempt.number,
        nodes=nodes,
        device_type=attempt.device_type,
        launcher=job.spec.launcher,
        command=job.spec.command,
        env=_checkpoint_env(job) | job.spec.env,
        workdir=job.spec.workdir,
        server_url=platform.url,
        token=platform.tokens.of(attempt.id),
        grace=job.spec.recovery.grace,
        user=user,
        log_limits=platform.settings.log_limits,
        checkpoint_dir=str(_checkpoint_folder(platform, job, user)),
        resume_from=resume,
        wants_port=job.spec.kind == JobKind.SERVICE,
    )


def _checkpoint_env(job: Job) -> dict[str, str]:
    """The checkpoint policy, as the in-job SDK reads it."""
    policy = job.spec.checkpoint
    every = {} if policy.every_steps is None else {"HEADWAY_CHECKPOINT_EVERY": str(policy.every_steps)}
    return every | {"HEADWAY_CHECKPOINT_KEEP": str(policy.keep)}


def _resume_path(attempt: Attempt, known: list[Checkpoint]) -> str | None:
    """The newest checkpoint the recovery verified; a first attempt starts from step 0."""
    if attempt.number == 1:
        return None
    return next((checkpoint.path for checkpoint in known if checkpoint.state == CheckpointState.VERIFIED), None)


def _checkpoint_folder(platform: Platform, job: Job, user: UnixUser | None) -> Path:
    folder = platform.checkpoints / job.id
    if not folder.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        if user is not None:
            os.chown(folder, user.uid, user.gid)
    return folder


def _launched(platform: Platform, attempt: Attempt, order: LaunchOrder, handle: Handle) -> None:
    now = platform.clock.now()
    with platform.database.write() as c:
        attempts.set_handle(c, attempt.id, asdict(handle))
        present = attempts.get(c, attempt.id)
        if present is None or present.state != AttemptState.PLACED:
            return
        step = next((p.step for p in checkpoints.of_job(c, attempt.job) if p.path == order.resume_from), 0)
        attempts.set_resume(c, attempt.id, order.resume_from, step)
        attempts.move(c, attempt.id, AttemptState.LAUNCHED, at=now)
        launched = AttemptLaunched(
            at=now,
            by="server",
            job=attempt.job,
            attempt=attempt.id,
            resume_from=order.resume_from,
            resume_step=step,
        )
        facts.append(c, launched)
        after_launch(c, attempt, now)


def _refused(platform: Platform, attempt: Attempt, error: PlatformError) -> None:
    now = platform.clock.now()
    log.warning("launch refused", attempt=attempt.id, error=str(error))
    with platform.database.write() as c:
        present = attempts.get(c, attempt.id)
        if present is None or present.state != AttemptState.PLACED:
            return
        failed = LaunchFailed(at=now, by="server", job=attempt.job, attempt=attempt.id, reason=str(error))
        facts.append(c, failed)
        finish(c, attempt, Outcome.FAILED, at=now, hold=platform.settings.hold)
    platform.wake("diagnose")
