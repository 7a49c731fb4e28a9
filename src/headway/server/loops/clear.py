"""Clear: the folders that attempts ran in are removed some days after they ended; each removal is recorded.

Never one whose attempt has not ended, and never one with something in it that has not been stored: its engine says.
"""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from typing import cast

import structlog

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.events import RunFilesRemoved
from headway.domain.ids import AttemptId
from headway.domain.lifecycle import AttemptState
from headway.engines.protocol import Capability, Clears
from headway.server.platform import Platform
from headway.store import attempts, facts

log = structlog.get_logger("headway.clear")
AT_ONCE = 500


async def clear(platform: Platform) -> None:
    """Look at every engine that keeps such folders. One that does not answer is asked again the next time."""
    for name, engine in platform.engines.items():
        if Capability.CLEARS not in engine.can:
            continue
        try:
            kept = await cast(Clears, engine).kept()
            for attempt in (await asyncio.to_thread(_due, platform, name, kept))[:AT_ONCE]:
                await _clear(platform, cast(Clears, engine), attempt)
        except PlatformError as error:
            log.warning("run files are kept", engine=name, error=str(error))


def _due(platform: Platform, engine: str, kept: Collection[AttemptId]) -> list[Attempt]:
    """Attempts of this engine that ended long enough ago, the oldest first."""
    latest = platform.clock.now() - timedelta(days=platform.settings.run_files_days)
    with platform.database.read() as c:
        known = [found for id in kept if (found := attempts.get(c, id)) is not None and found.engine == engine]
    over = [each for each in known if each.state is AttemptState.ENDED and each.ended_at and each.ended_at <= latest]
    return sorted(over, key=lambda attempt: (attempt.ended_at, attempt.id))


async def _clear(platform: Platform, engine: Clears, attempt: Attempt) -> None:
    freed = await engine.clear(attempt.id)
    if freed is not None:
        await asyncio.to_thread(_record, platform, attempt, freed)


def _record(platform: Platform, attempt: Attempt, freed: int) -> None:
    said = RunFilesRemoved(
        at=platform.clock.now(), by="server", job=attempt.job, attempt=attempt.id, engine=attempt.engine, bytes=freed
    )
    with platform.database.write() as c:
        facts.append(c, said)
