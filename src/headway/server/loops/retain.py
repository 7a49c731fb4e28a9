"""Retain: keep what is needed and let go of what is not; look at new checkpoints before anybody needs them."""

import asyncio
import os
import shutil
from datetime import timedelta

import structlog

from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.events import AttemptEnded
from headway.sdk.job.checkpoint import verify
from headway.server.loops.abreast import Abreast
from headway.server.operations.assets.weights import INCOMING
from headway.server.operations.jobs.checkpoints import Found, record_rejected, record_verified
from headway.server.platform import Platform
from headway.store import attempts, checkpoints, cursors, facts, idempotency

log = structlog.get_logger("headway.retain")
IDEMPOTENCY_KEPT = timedelta(days=1)
UNFINISHED_KEPT = timedelta(days=1)
LOOKED_FOR = (CheckpointState.SAVED, CheckpointState.VERIFIED)
THINNED = "thinned by the program"
PACKED = "readings-packed"
BATCH = 1000
VERIFIED_AT_ONCE = 2


async def persist(platform: Platform) -> None:
    """Make the logs received so far survive a crash."""
    await asyncio.to_thread(platform.logs.flush)


async def retain(platform: Platform) -> None:
    """Forget old readings, idempotency keys and what nobody needs; pack what will not change any more."""
    now = platform.clock.now()
    await asyncio.to_thread(platform.readings.prune, now - timedelta(days=platform.settings.readings_days))
    await asyncio.to_thread(_forget_keys, platform)
    await asyncio.to_thread(_pack_readings, platform)
    await asyncio.to_thread(_forget_ended, platform)
    await asyncio.to_thread(_remove_unfinished_models, platform)


def examine_checkpoints() -> Abreast[Checkpoint]:
    """Verify every checkpoint that was reported and not looked at yet."""
    return Abreast("verify", _unverified, _examine, at_once=VERIFIED_AT_ONCE)


def _pack_readings(platform: Platform) -> None:
    """Store the readings of attempts that have ended as small as they get."""
    with platform.database.read() as c:
        ended = facts.since(c, cursors.get(c, PACKED), kinds={AttemptEnded.kind}, limit=BATCH)
    for recorded in ended:
        if isinstance(recorded.fact, AttemptEnded):
            platform.readings.pack(recorded.fact.attempt)
    if ended:
        with platform.database.write() as c:
            cursors.set(c, PACKED, ended[-1].seq)


def _forget_keys(platform: Platform) -> None:
    with platform.database.write() as c:
        idempotency.prune(c, platform.clock.now() - IDEMPOTENCY_KEPT)


def _forget_ended(platform: Platform) -> None:
    """Of attempts that have ended nothing is kept in memory."""
    with platform.database.read() as c:
        live = {attempt.id for attempt in attempts.live(c)}
    for attempt in [known for known in list(platform.progress_facts) if known not in live]:
        platform.progress_facts.pop(attempt, None)


def _remove_unfinished_models(platform: Platform) -> None:
    """Folders of versions whose registering was cut off by a crash."""
    oldest = (platform.clock.now() - UNFINISHED_KEPT).timestamp()
    for folder in platform.models.glob(f"*/{INCOMING}*"):
        if folder.lstat().st_mtime < oldest:
            log.warning("an unfinished model is removed", folder=str(folder))
            shutil.rmtree(folder)


def _unverified(platform: Platform) -> dict[str, Checkpoint]:
    with platform.database.read() as c:
        return {f"{saved.job} {saved.path}": saved for saved in checkpoints.in_state(c, CheckpointState.SAVED)}


def _examine(platform: Platform, checkpoint: Checkpoint) -> None:
    found = verify(checkpoint.path)
    now = platform.clock.now()
    seen = Found(checkpoint.path, checkpoint.step)
    with platform.database.write() as c:
        attempt = attempts.get(c, checkpoint.attempt)
        if attempt is None:
            return
        if found.ok:
            record_verified(c, attempt, seen, now)
        elif os.path.lexists(checkpoint.path):
            record_rejected(c, checkpoint.job, seen, found.reason, now)
        for known in checkpoints.of_job(c, checkpoint.job):
            if known.state in LOOKED_FOR and not os.path.lexists(known.path):
                checkpoints.set_state(c, known.job, known.path, CheckpointState.DELETED, THINNED)
