"""A world without machines: a clock that only moves when told, and lives that are written beforehand.

It stands in for what outlives a server: any number of `FakeEngine` objects may look at one world. It must never read
the real clock or draw random numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from headway.domain.errors import say
from headway.domain.ids import AttemptId
from headway.domain.resources import Maker, Node
from headway.engines.protocol import START_FAILED, Handle, LaunchOrder, Sight

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
DEFAULT_NODES = tuple(Node(name, "fake", "a100", 8, Maker.NVIDIA) for name in ("n1", "n2", "n3", "n4"))


@dataclass(frozen=True, slots=True)
class Life:
    """What happens to an attempt, in times after its launch; `None` means never by itself.

    `refuses`: the reason it is not taken at all; `cannot_start`: why its agents could not carry out their orders.
    `stops_in`: how long its ranks need to end once asked to. `node_fails`: its agent is lost because its last node is.
    `queued`: the world's own queue keeps it for too long, and why.
    """

    runs_for: timedelta | None = None
    fails_after: timedelta | None = None
    loses_agent: timedelta | None = None
    stops_in: timedelta = timedelta(0)
    never_begins: bool = False
    refuses: str | None = None
    cannot_start: str | None = None
    node_fails: bool = False
    queued: str | None = None

    def end(self) -> tuple[timedelta, Sight, str] | None:
        """The first of its own ends: when, what an engine sees then, and how the ranks ended."""
        ends = [
            (after, sight, detail)
            for after, sight, detail in (
                (self.fails_after, Sight.ENDED, "exit 1"),
                (self.loses_agent, Sight.AGENT_LOST, say("agent-died")),
                (self.runs_for, Sight.ENDED, "exit 0"),
            )
            if after is not None
        ]
        return min(ends, key=lambda end: end[0], default=None)


@dataclass(slots=True)
class Part:
    """One attempt as the world knows it."""

    order: LaunchOrder
    handle: Handle
    life: Life
    launched_at: datetime
    stopped_at: datetime | None = None
    grace: timedelta = timedelta(0)

    @property
    def _unbegun(self) -> Sight:
        return Sight.RUNNING if self.life.queued else Sight.ABSENT

    def seen(self, now: datetime) -> tuple[Sight, str | None]:
        """What can be seen of it at `now`."""
        if self.life.cannot_start:
            return Sight.ENDED, f"{START_FAILED}: {self.life.cannot_start}"
        if self.life.never_begins or self.life.queued:
            return (Sight.ENDED, "withdrawn") if self.stopped_at else (self._unbegun, None)
        ends = [(self.launched_at + after, sight, detail) for after, sight, detail in filter(None, (self.life.end(),))]
        if self.stopped_at:
            ends.append((self.stopped_at + min(self.life.stops_in, self.grace), Sight.ENDED, "stopped"))
        at, sight, detail = min(ends, key=lambda end: end[0], default=(None, Sight.RUNNING, None))
        return (sight, detail) if at is not None and at <= now else (Sight.RUNNING, None)


@dataclass(slots=True)
class World:
    """Nodes, written lives, what was launched, and when the engine is cut off. `now` moves by `advance` alone.

    `keeps`: devices of an attempt that has ended stay the server's.
    """

    nodes: tuple[Node, ...] = DEFAULT_NODES
    now: datetime = EPOCH
    default: Life = Life(runs_for=timedelta(minutes=10))
    lives: dict[AttemptId, Life] = field(default_factory=dict)
    parts: dict[AttemptId, Part] = field(default_factory=dict)
    outages: list[tuple[datetime, datetime]] = field(default_factory=list)
    keeps: bool = True

    def advance(self, by: timedelta) -> datetime:
        """Move the clock forward and return the new time."""
        self.now += by
        return self.now

    def write(self, attempt: AttemptId, life: Life) -> None:
        """Say beforehand how an attempt will go; one that runs already changes its course."""
        self.lives[attempt] = life
        if attempt in self.parts:
            self.parts[attempt].life = life

    def cut_off(self, after: timedelta, lasting: timedelta) -> None:
        """Make the engine unreachable for a while; what runs goes on."""
        start = self.now + after
        self.outages.append((start, start + lasting))

    @property
    def is_cut_off(self) -> bool:
        return any(start <= self.now < end for start, end in self.outages)

    def running(self) -> Sequence[AttemptId]:
        """The attempts that run now, in the order they were launched."""
        return [attempt for attempt, part in self.parts.items() if part.seen(self.now)[0] is Sight.RUNNING]
