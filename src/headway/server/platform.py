"""The control plane's parts, put together once and handed to the API, the operations and the loops."""

import asyncio
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from headway.domain.ids import AttemptId
from headway.engines.protocol import Engine
from headway.server.clock import Clock, SystemClock
from headway.server.engines import open_engines
from headway.server.live import Live
from headway.server.operations.queue.looking import Memory
from headway.server.printed import Printed
from headway.server.secrets import AttemptTokens
from headway.server.settings import Settings
from headway.store.database import Database
from headway.store.logs import LogBook
from headway.store.readings import Readings
from headway.store.scenes import SceneBook


@dataclass(frozen=True, slots=True)
class Discard:
    """A checkpoint that is to go: its bytes when it was chosen (None: any), and why."""

    bytes: int | None
    cause: str


class Wake:
    """Lets any thread wake the loops at once instead of at their next turn."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop, names: tuple[str, ...]) -> None:
        """Called once by the loops' own event loop."""
        self._loop = loop
        self._events = {name: asyncio.Event() for name in names}

    def event(self, name: str) -> asyncio.Event:
        return self._events[name]

    def __call__(self, *names: str) -> None:
        """Wake these loops; from any thread, and harmless when none runs."""
        if self._loop is None or self._loop.is_closed():
            return
        for name in names:
            if name in self._events:
                self._loop.call_soon_threadsafe(self._events[name].set)


AGENT = "agent/headway-agent.pyz"
"""Where in the home the agent is that engines launch."""


@dataclass(slots=True)
class Platform:
    """Everything the server works with. `engines` by name; paths below `home`.

    `save_every` and `discards`: what agents are told.
    """

    settings: Settings
    database: Database
    logs: LogBook
    readings: Readings
    engines: dict[str, Engine]
    tokens: AttemptTokens
    clock: Clock = field(default_factory=SystemClock)
    wake: Wake = field(default_factory=Wake)
    memory: Memory = field(default_factory=Memory)
    progress_facts: dict[AttemptId, datetime] = field(default_factory=dict)
    printed: Printed = field(default_factory=Printed)
    live: Live = field(default_factory=Live)
    save_every: dict[AttemptId, timedelta] = field(default_factory=dict)
    discards: dict[AttemptId, dict[str, Discard]] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.settings.home

    @property
    def checkpoints(self) -> Path:
        return self.home / "checkpoints"

    @property
    def scenes(self) -> SceneBook:
        """What agents saw of attempts that hung."""
        return SceneBook(self.home / "logs" / "scenes")

    @property
    def models(self) -> Path:
        return self.home / "models"

    @property
    def gateway(self) -> Path:
        return self.home / "gateway"

    @property
    def url(self) -> str:
        """Where agents reach this server."""
        return self.settings.agents_url

    def close(self) -> None:
        self.logs.close()
        self.readings.close()
        self.database.close()


def open_platform(settings: Settings, agent: Path) -> Platform:
    """Make the home, migrate the database and open every part. `agent` is the zipapp that engines launch.

    Ranks of other users pass through the home, and read in it only what is theirs.
    """
    home = settings.home
    for folder in (home, home / "logs", home / "run", home / "checkpoints", home / "models", home / "gateway"):
        folder.mkdir(parents=True, exist_ok=True)
    home.chmod(0o711)
    for folder in (home / "logs", home / "gateway"):
        folder.chmod(0o700)
    os.close(os.open(home / "readings.db", os.O_WRONLY | os.O_CREAT, 0o600))
    database = Database(settings.url)
    database.migrate()
    return Platform(
        settings=settings,
        database=database,
        logs=LogBook(home / "logs"),
        readings=Readings(home / "readings.db"),
        engines=open_engines(settings, agent),
        tokens=AttemptTokens(home / "secret"),
    )
