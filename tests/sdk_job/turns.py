"""Processes of one simulation, one of which runs at a time: at every act, chance says who goes on.

Each is a thread that waits for its turn, so that the code it runs is the real one, and a seed tells one order of acts
of all of them. Time is what is slept: it passes when all sleep, or when chance wakes a sleeper early for the others.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.sdk_job.dying_disk import Cut

WAKES = 0.1


@dataclass(eq=False)
class Process:
    """Threads of one process die together; `name` is what tests ask it by."""

    name: str
    is_dead: bool = False


@dataclass(eq=False)
class Actor:
    """A thread of a process; `error` is what it ended with, other than being killed."""

    process: Process
    thread: threading.Thread = field(init=False)
    resumed: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    wakes_at: float = 0.0
    has_ended: bool = False
    error: BaseException | None = None


class Turns:
    """The order in which actors act; use `play` from outside, the rest from within an actor."""

    def __init__(self, chance: random.Random) -> None:
        self.now = 0.0
        self._chance = chance
        self._actors: list[Actor] = []
        self._back = threading.Semaphore(0)
        self._current: Actor | None = None

    def start(self, process: Process, act: Callable[[], object]) -> Actor:
        actor = Actor(process)
        actor.thread = threading.Thread(target=self._run, args=(actor, act), daemon=True)
        self._actors.append(actor)
        actor.thread.start()
        return actor

    @property
    def process(self) -> Process:
        """The one whose turn it is."""
        assert self._current is not None
        return self._current.process

    def pass_on(self) -> None:
        """Another may act before this one goes on; raises Cut if this process was killed meanwhile."""
        actor = self._current
        if actor is None:
            return
        if not actor.process.is_dead:
            self._back.release()
            actor.resumed.acquire()
        if actor.process.is_dead:
            raise Cut

    def sleep(self, seconds: float) -> None:
        """As `time.sleep`."""
        assert self._current is not None
        self._current.wakes_at = self.now + seconds
        self.pass_on()

    def monotonic(self) -> float:
        """As `time.monotonic`."""
        return self.now

    def play(self, until: Callable[[], bool] = lambda: False) -> None:
        """Until `until` holds or all have ended; raises what any of them ended with."""
        while not until():
            left = [actor for actor in self._actors if not actor.has_ended]
            if not left:
                break
            self._resume(self._next(left))
        for actor in self._actors:
            if actor.error is not None:
                raise actor.error

    def _next(self, left: list[Actor]) -> Actor:
        ready = [actor for actor in left if actor.wakes_at <= self.now or actor.process.is_dead]
        sleeping = [actor for actor in left if actor not in ready]
        if sleeping and (not ready or self._chance.random() < WAKES):
            actor = min(sleeping, key=lambda sleeper: sleeper.wakes_at)
            self.now = actor.wakes_at
            return actor
        return self._chance.choice(ready)

    def _resume(self, actor: Actor) -> None:
        self._current = actor
        actor.resumed.release()
        self._back.acquire()
        self._current = None

    def _run(self, actor: Actor, act: Callable[[], object]) -> None:
        actor.resumed.acquire()
        try:
            if not actor.process.is_dead:
                act()
        except Cut:
            actor.process.is_dead = True
        except BaseException as error:
            actor.error = error
        finally:
            actor.has_ended = True
            self._back.release()
