"""Work on several things abreast: none waits for another, and none is stopped by another's failure.

What takes long goes on while the loop turns again. What failed is told by its name, and tried again after a rest.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import structlog

from headway.server.platform import Platform

log = structlog.get_logger("headway.loops")
T = TypeVar("T")
AT_ONCE = 8
PATIENCE_S = 5.0
REST = timedelta(seconds=10)


class Abreast(Generic[T]):
    """One loop's turn: `find` names what there is to do now, `act` does one of it; both are called in threads."""

    def __init__(
        self,
        name: str,
        find: Callable[[Platform], Mapping[str, T]],
        act: Callable[[Platform, T], None],
        at_once: int = AT_ONCE,
    ) -> None:
        self._name, self._find, self._act = name, find, act
        # Threads of its own: long work must not use up those of the other loops.
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=f"headway-{name}")
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._rests: dict[str, datetime] = {}

    async def __call__(self, platform: Platform) -> None:
        """Begin whatever is neither under way nor resting, and wait for it a little."""
        found = await asyncio.to_thread(self._find, platform)
        now = platform.clock.now()
        self._rests = {key: at for key, at in self._rests.items() if key in found and at <= now < at + REST}
        due = {key: thing for key, thing in found.items() if key not in self._busy and key not in self._rests}
        begun = {key: asyncio.create_task(self._one(platform, key, thing)) for key, thing in due.items()}
        self._busy |= begun
        if begun:
            await asyncio.wait(begun.values(), timeout=PATIENCE_S)

    async def _one(self, platform: Platform, key: str, thing: T) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, self._act, platform, thing)
        except Exception:
            log.exception("one of several failed", loop=self._name, of=key)
            self._rests[key] = platform.clock.now()
        finally:
            del self._busy[key]
