"""Turns loops: each at its own pace or when woken, each on its own, none stopped by another's failure."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from headway.domain.errors import PlatformError
from headway.server.platform import Platform

log = structlog.get_logger("headway.loops")
BACK_OFF_S = 2.0


@dataclass(frozen=True, slots=True)
class Loop:
    """`turn` does whatever there is to do now and returns; it is called again after `every_s`, or when woken."""

    name: str
    every_s: float
    turn: Callable[[Platform], Awaitable[None]]


async def run_loops(platform: Platform, loops: Sequence[Loop]) -> None:
    """Run until cancelled."""
    platform.wake.attach(asyncio.get_running_loop(), tuple(loop.name for loop in loops))
    async with asyncio.TaskGroup() as group:
        for loop in loops:
            group.create_task(_turn_for_ever(platform, loop), name=loop.name)


async def _turn_for_ever(platform: Platform, loop: Loop) -> None:
    woken = platform.wake.event(loop.name)
    while True:
        woken.clear()
        try:
            await loop.turn(platform)
        except PlatformError as error:
            if error.code == "conflict":
                continue
            log.warning("turn refused", loop=loop.name, code=error.code, params=error.params)
        except Exception:
            log.exception("turn failed", loop=loop.name)
            await asyncio.sleep(BACK_OFF_S)
        with suppress(TimeoutError):
            await asyncio.wait_for(woken.wait(), loop.every_s)
