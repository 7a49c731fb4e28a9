"""A whole platform on a virtual clock: real store, real operations, real loops; the engine and the agents are played.

Nothing here moves unless a story says so. `settle` turns every loop until nothing happens any more, as a server's loops
do within a moment; `later` moves the clock first.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from headway.domain.errors import PlatformError
from headway.domain.events import Fact
from headway.domain.quota import Quota
from headway.domain.quota_table import read_tree
from headway.domain.resources import Maker, Node
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import Life
from headway.engines.fake.world import World as Machines
from headway.server import locks
from headway.server.access import Role
from headway.server.bootstrap import prepare
from headway.server.gateway_process import LOCK
from headway.server.loops.all import all_loops
from headway.server.loops.runner import Loop
from headway.server.operations.assets.assets import add_template
from headway.server.operations.jobs.submit import Submission, submit
from headway.server.operations.ledger.usage import intervals_of, statement_of
from headway.server.operations.people.directory import (
    Change,
    create_department,
    create_project,
    create_user,
    grant_role,
)
from headway.server.operations.queue.granting import Wish, decide, request
from headway.server.operations.queue.quota import approve, propose, set_number
from headway.server.platform import Platform, open_platform
from headway.server.settings import Settings
from headway.store import facts
from headway.store import world as version
from tests.scenarios.work import Work

START = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
TYPE = "a100"
PROJECTS = ("nlp", "vision")
MOST_ROUNDS = 20
TICK = timedelta(microseconds=1)
RARE = ("retain",)
TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "name": "train",
        "command": ["train"],
        "checkpoint": {"every_steps": 10},
        "recovery": {"retries": 3, "grace_s": 30},
    },
    {"name": "patient", "command": ["train"], "recovery": {"when_stalled": "tell"}},
    {"name": "serve", "kind": "service", "command": ["serve", "{model}"], "parameters": {"model": {"type": "model"}}},
)


class MachineClock:
    """The platform's clock is the machines' clock."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines

    def now(self) -> datetime:
        return self._machines.now


class World:
    """A server, its machines (nodes of 8 cards) and two projects with plenty of quota."""

    def __init__(self, url: str, home: Path, nodes: int = 2, **settings: Any) -> None:
        shown = tuple(Node(f"n{n}", "fake", TYPE, 8, Maker.NVIDIA) for n in range(1, nodes + 1))
        self.machines = Machines(nodes=shown, now=START, default=Life())
        self._settings = Settings(home=home, database_url=url, engines="fake", **settings)
        self._runner = asyncio.Runner()
        self.platform = self._open()
        self.loops = self._fresh_loops()
        self._gateway = locks.take(self.platform.gateway / LOCK)  # stands for a gateway that lives
        self._furnish()
        self.settle()

    @property
    def now(self) -> datetime:
        return self.machines.now

    @property
    def change(self) -> Change:
        return Change("ann", self.now)

    def submit(self, name: str = "train", *, nodes: int = 1, devices: int = 8, **fields: Any) -> Work:
        """A job of the given size; whether it starts is for the loops to say. No two come at the same moment."""
        self.machines.advance(TICK)
        wanted = {"nodes": nodes, "devices_per_node": devices, "ranks_per_node": 1}
        given = {"project": "nlp", "template": "train", "resources": wanted} | fields
        with self.platform.database.write() as c:
            job = submit(self.platform, c, Submission(name=name, **given), by="ann")
        return Work(self, job.id)

    def quota(self, project: str, devices: int) -> None:
        with self.platform.database.write() as c:
            set_number(c, self.change, Quota(project, TYPE, devices))

    def table(self, toml: str, *, since: datetime | None = None) -> int:
        """A whole quota table: proposed by an operator, approved by an administrator; returns its number."""
        roles = ({"admin"}, {"operator"})
        with self.platform.database.write() as c:
            number = propose(c, Change("olga", self.now), read_tree(toml), "a story").number
            approve(c, Change("root", self.now), number, since, roles)
        return number

    def grant(self, project: str, devices: int, **length: float) -> str:
        """An approved grant from now on (`hours=2`); its id."""
        wish = Wish(project, TYPE, devices, self.now, self.now + timedelta(**length), "a story")
        with self.platform.database.write() as c:
            asked = request(c, self.change, wish)
            decide(c, Change("olga", self.now), asked.id, True, "")
        return asked.id

    def turn(self, name: str) -> None:
        """One turn of one loop. Raises what it raises."""
        self._runner.get_loop().run_until_complete(self.loops[name].turn(self.platform))

    def settle(self) -> None:
        """Turn every loop, round after round, until a round records nothing new."""
        for _ in range(MOST_ROUNDS):
            before = self.mark()
            for name in self.loops:
                if name not in RARE:
                    self._turn_again(name)
            if self.mark() == before:
                return
        raise AssertionError(f"the loops do not come to rest: {self.facts()[-10:]}")

    def later(self, **by: float) -> None:
        """Let time pass (`hours=1`), then settle."""
        self.machines.advance(timedelta(**by))
        self.settle()

    def later_unseen(self, seconds: float) -> None:
        """Let time pass, and turn no loop."""
        self.machines.advance(timedelta(seconds=seconds))

    def cut_off(self, seconds: float) -> None:
        """Make the engine unreachable for a while from now on."""
        self.machines.cut_off(timedelta(0), timedelta(seconds=seconds))

    def restart(self) -> None:
        """The server ends and comes up again: nothing it had in memory is left."""
        self.platform.close()
        self.platform = self._open()
        self.loops = self._fresh_loops()

    def mark(self) -> tuple[int, int]:
        """Grows with whatever is recorded."""
        with self.platform.database.read() as c:
            return facts.last_seq(c), version.version(c)

    def facts(self, *kinds: str) -> list[Fact]:
        """Everything recorded, in order, or these kinds of it."""
        with self.platform.database.read() as c:
            return facts.all(c, kinds=kinds or None)

    def statement(self, project: str = "nlp", month: str = "2026-11") -> Any:
        with self.platform.database.read() as c:
            return statement_of(c, project, month, self._settings.timezone, self.now)

    def intervals(self, project: str = "nlp") -> Any:
        with self.platform.database.read() as c:
            return intervals_of(c, project)

    def close(self) -> None:
        self.platform.close()
        self._runner.close()
        if self._gateway is not None:
            os.close(self._gateway)

    def _turn_again(self, name: str) -> None:
        """As the loops' runner does: a plan that no longer fits is made again."""
        for _ in range(MOST_ROUNDS):
            try:
                return self.turn(name)
            except PlatformError as error:
                if error.code != "conflict":
                    raise
        raise AssertionError(f"{name} never applies")

    def _open(self) -> Platform:
        opened = open_platform(self._settings, agent=self._settings.home / "agent.pyz")
        opened.clock = MachineClock(self.machines)
        opened.engines = {"fake": FakeEngine(self.machines)}
        return opened

    def _fresh_loops(self) -> dict[str, Loop]:
        return {loop.name: loop for loop in all_loops()}

    def _furnish(self) -> None:
        prepare(self.platform)
        with self.platform.database.write() as c:
            create_user(c, self.change, "ann", None, None)
            grant_role(c, self.change, "ann", Role.ADMIN, None)
            for template in TEMPLATES:
                add_template(c, self.change, template)
            create_department(c, self.change, "research")
            for project in PROJECTS:
                create_project(c, self.change, project, "research")
                set_number(c, self.change, Quota(project, TYPE, 1000))


@contextmanager
def opened(url: str, home: Path, **given: Any) -> Iterator[World]:
    """A world that is closed at the end."""
    made = World(url, home, **given)
    try:
        yield made
    finally:
        made.close()
