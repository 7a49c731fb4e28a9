"""Make a showcase and serve it: the same server with the same screens, on a home that was played.

The loops go on at their pace, and so does everything that is played: what runs moves on, what is submitted is queued,
starts and ends.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn

from headway.domain.errors import Language, PlatformError, message
from headway.server import locks
from headway.server.app import create_app
from headway.server.loops.runner import Loop
from headway.server.platform import Platform
from headway.server.running import configure_logs
from headway.server.showcase.furnish import ADMIN, PASSWORD, PEOPLE, furnish, machines
from headway.server.showcase.home import LOCK, claim
from headway.server.showcase.stage import Stage
from headway.server.showcase.story import DAYS, Story

PLAY_EVERY_S = 2.0


def play(home: Path, port: int, language: Language) -> Stage:
    """Two weeks up to now, in a home that was claimed."""
    ends = datetime.now(UTC)
    stage = Stage(home, port, machines(language), ends - timedelta(days=DAYS), ends)
    furnish(stage, language)
    Story(stage, language).play()
    return stage


def serve(home: Path, port: int, language: Language, plays: Callable[[], None], tell: Callable[[str], None]) -> None:
    """Play, then serve on this machine only until told to stop. Raises what `claim` raises, and `port-taken`.

    `plays` is called once the home and the port are had, `tell` gets the address once it is served.
    """
    configure_logs()
    with _listen(port) as listening:
        chosen = listening.getsockname()[1]
        claim(home)
        plays()
        stage = play(home, chosen, language)
        lock = locks.take(home / LOCK)
        if lock is None:
            raise PlatformError("server-running", home=str(home))
        with os.fdopen(lock, "rb"):
            stage.go_live(lambda: datetime.now(UTC))
            app = create_app(stage.platform, more=(Loop("play", PLAY_EVERY_S, _playing(stage)),))
            tell(f"http://127.0.0.1:{chosen}")
            config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5)
            uvicorn.Server(config).run(sockets=[listening])
            stage.close()


def invitation(url: str, language: Language) -> str:
    """Where it is and who may come in."""
    names = ("、" if language == "zh" else ", ").join(name for name, _, _ in PEOPLE if name != ADMIN)
    return message("showcase-up", {"url": url, "user": ADMIN, "others": names, "password": PASSWORD}, language)


def _playing(stage: Stage) -> Callable[[Platform], Awaitable[None]]:
    async def turn(_: Platform) -> None:
        stage.machines.now = datetime.now(UTC)
        await asyncio.to_thread(stage.act)

    return turn


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port), backlog=2048)
    except OSError as error:
        raise PlatformError("port-taken", field="port", value=port, detail=error.strerror) from None
