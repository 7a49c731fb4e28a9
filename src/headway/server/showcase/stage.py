"""A whole server on a virtual clock: real store, operations and loops; engine, agents and daemons are played.

Time goes from one thing that happens to the next, and no further than a stride that shortens towards the present. Once
the present is reached the stage goes on with the machine's clock, and everything on it goes on living.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId
from headway.domain.job import Job, JobKind
from headway.domain.lifecycle import AttemptState
from headway.domain.resources import Node
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import Life
from headway.engines.fake.world import World as Machines
from headway.engines.protocol import Handle, LaunchOrder
from headway.server import locks
from headway.server.gateway_process import LOCK
from headway.server.loops.all import all_loops
from headway.server.loops.runner import Loop
from headway.server.platform import Platform, open_platform
from headway.server.settings import Settings
from headway.server.showcase.daemons import Daemons
from headway.server.showcase.endpoint import Endpoint
from headway.server.showcase.gang import Gang
from headway.server.showcase.roles import SERVES, USUAL, Role
from headway.store import attempts, facts, jobs
from headway.store import world as version

ENGINE = "showcase"
MOST_ROUNDS = 12
RARE = ("retain", "forecast")
"""Loops that do not turn each time: on a clock that stands still while it works the forecast would never rest."""
STRIDES = (
    (timedelta(minutes=13), timedelta(minutes=1)),
    (timedelta(minutes=17), timedelta(seconds=20)),
    (timedelta(hours=6), timedelta(minutes=20)),
    (timedelta(days=2), timedelta(minutes=75)),
    (timedelta(days=30), timedelta(hours=4)),
)
"""How far time may go at once, by how far the present is: the watch over stalls has to see steps as they come."""
ENOUGH = timedelta(seconds=3)


class PlayedEngine(FakeEngine):
    """The fake engine with a place where replicas answer."""

    def __init__(self, machines: Machines, endpoint: str) -> None:
        super().__init__(machines, ENGINE)
        self._endpoint = endpoint

    async def launch(self, order: LaunchOrder) -> Handle:
        """As any launch; whatever wants a port gets the one that is played."""
        handle = await super().launch(order)
        return replace(handle, endpoint=self._endpoint if order.wants_port else None)


class Clock:
    """The machines' clock while the past is played, then the machine's own."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines
        self.is_live = False

    def now(self) -> datetime:
        return datetime.now(UTC) if self.is_live else self._machines.now


class Stage:
    """The server and everything that is played around it. `roles`: how jobs go, by name."""

    def __init__(self, home: Path, port: int, nodes: tuple[Node, ...], begins: datetime, ends: datetime) -> None:
        self.machines = Machines(nodes=nodes, now=begins, default=Life())
        self.ends = ends
        self.endpoint = Endpoint()
        self.platform = self._open(Settings(home=home, port=port, engines="fake"))
        self.daemons = Daemons(self.platform, nodes, begins, ends)
        self.roles: dict[str, Role] = {}
        self._gangs: dict[AttemptId, Gang] = {}
        self._loops = {loop.name: loop for loop in all_loops()}
        self._runner = asyncio.Runner()
        self._gateway = locks.take(self.platform.gateway / LOCK)  # stands for a gateway that lives

    @property
    def now(self) -> datetime:
        return self.machines.now

    def until(self, moment: datetime) -> None:
        """Let everything happen up to a moment."""
        while self.now < moment:
            self._step(moment)

    def _step(self, moment: datetime) -> None:
        stride = next(length for before, length in STRIDES if self.ends - self.now <= before)
        due = [gang.next_at for gang in self._gangs.values()]
        soon = [at for at in due if at is not None and at > self.now]
        after = min([self.now + stride, moment, *soon])
        self.machines.advance(max(after - self.now, min(ENOUGH, moment - self.now)))
        self.act()
        self.settle()

    def _meet(self) -> list[Attempt]:
        """Who has been launched and is not over, each with a gang from now on."""
        with self.platform.database.read() as c:
            live = [attempt for attempt in attempts.live(c) if attempt.state is not AttemptState.PLACED]
            known = {attempt.id: jobs.get(c, attempt.job) for attempt in live if attempt.id not in self._gangs}
        for attempt in live:
            job = known.get(attempt.id)
            if job is not None:
                self._gangs[attempt.id] = self._gang(job, attempt)
        return live

    def act(self) -> None:
        """Everybody says what is to be said by now."""
        live = self._meet()
        busy: dict[tuple[str, int], float] = {}
        for attempt in live:
            gang = self._gangs[attempt.id]
            if not gang.is_over:
                gang.play()
            busy |= {(p.node, device): gang.use for p in attempt.placements for device in p.devices}
        self._gangs = {attempt.id: self._gangs[attempt.id] for attempt in live}
        self.daemons.report(self.now, busy)

    def settle(self) -> None:
        """Turn every loop until a round records nothing new; whoever was launched meanwhile is met."""
        for _ in range(MOST_ROUNDS):
            before = self._mark()
            for name, loop in self._loops.items():
                if name not in RARE:
                    self._turn(loop)
            if self._mark() == before:
                break
        self._meet()

    def foresee(self) -> None:
        """Say when what waits will start."""
        self._turn(self._loops["forecast"])

    def restart(self) -> None:
        """The loops begin anew, as after a restart of the server: they remember no silence between two strides."""
        self._loops = {loop.name: loop for loop in all_loops()}

    def go_live(self, now: Callable[[], datetime]) -> None:
        """From here on the present is the machine's, and the server turns its own loops."""
        self._runner.close()
        self.machines.now = now()
        clock = self.platform.clock
        assert isinstance(clock, Clock)
        clock.is_live = True

    def close(self) -> None:
        self.platform.close()
        self.endpoint.close()
        if self._gateway is not None:
            os.close(self._gateway)

    def _gang(self, job: Job, attempt: Attempt) -> Gang:
        usual = SERVES if job.spec.kind is JobKind.SERVICE else USUAL
        return Gang(self, job, attempt, self.roles.get(job.spec.name, usual))

    def _turn(self, loop: Loop) -> None:
        """As the loops' runner does: a plan that no longer fits is made again."""
        for _ in range(MOST_ROUNDS):
            try:
                self._runner.run(loop.turn(self.platform))  # type: ignore[arg-type]
                return
            except PlatformError as error:
                if error.code != "conflict":
                    raise

    def _mark(self) -> tuple[int, int]:
        with self.platform.database.read() as c:
            return facts.last_seq(c), version.version(c)

    def _open(self, settings: Settings) -> Platform:
        opened = open_platform(settings, agent=settings.home / "agent.pyz")
        opened.clock = Clock(self.machines)
        opened.engines = {ENGINE: PlayedEngine(self.machines, self.endpoint.address)}
        return opened
