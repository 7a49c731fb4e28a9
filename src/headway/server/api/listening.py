"""Who listens to a stream: looked at again every minute, so that who may not hear any more soon hears nothing more.

A connection that broke goes on after the last event it brought (`Last-Event-ID`).
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Header
from starlette.concurrency import run_in_threadpool

from headway.domain.errors import PlatformError
from headway.server.api.asking import Asker, AskerHere, asker_of

AGAIN = timedelta(minutes=1)


class Listener:
    """The user behind a stream, as they stood when they were looked at last."""

    def __init__(
        self,
        asker: AskerHere,
        authorization: Annotated[str | None, Header()] = None,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> None:
        self.asker = asker
        self.platform = asker.platform
        self._authorization = authorization
        self._last_event = last_event_id
        self._seen_at = self.platform.clock.now()

    def place(self, asked: int) -> int:
        """Where the stream begins: after the last event that an earlier connection brought, else where asked."""
        told = self._last_event or ""
        return int(told) if told.isascii() and told.isdecimal() and len(told) < 16 else asked

    async def may_hear(self, check: Callable[[Asker], object]) -> bool:
        """False once the token opens nothing any more, or `check` refuses who is behind it."""
        now = self.platform.clock.now()
        if now - self._seen_at < AGAIN:
            return True
        try:
            self.asker = await run_in_threadpool(asker_of, self.platform, self._authorization)
            await run_in_threadpool(check, self.asker)
        except PlatformError:
            return False
        self._seen_at = now
        return True


ListenerHere = Annotated[Listener, Depends(Listener)]
