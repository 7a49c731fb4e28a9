"""The queue as lines of jobs that are alike: what refuses the first of a line refuses all of it in this cycle.

Decides which jobs are alike and keeps each line in order. Lines are what makes a long queue cheap: a cycle looks at
lines, not at jobs.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import Any, NamedTuple

from headway.domain.ids import JobId
from headway.scheduler.predict import Traits
from headway.scheduler.snapshot import QueuedJob


class Line(NamedTuple):
    """What its jobs have in common. `wanted`: devices on each node; `devices`: on all. `length`: the run time that
    windows go by, `bound`: that promises and backfill go by (None: unknown). `holder`: the one job with a hold. `pools`
    and `accounts` go together, most wanted first."""

    rank: int
    project: str
    owner: str
    nodes: int
    wanted: int
    devices: int
    pools: tuple[int, ...]
    accounts: tuple[int, ...]
    length: float | None
    bound: float | None
    protected: bool
    excluded: frozenset[str]
    array: str | None
    array_cap: int | None
    holder: JobId | None

    @property
    def shape(self) -> "Shape":
        return self.pools, self.nodes, self.wanted


Common = tuple[Any, ...]
"""The fields of a line, in their order: equal to the line itself, and cheaper to make."""
Shape = tuple[tuple[int, ...], int, int]
"""Pools, nodes, devices a node: lines of one shape all fit or all do not."""


class Ask(NamedTuple):
    """A queued job at the desk. Those of one line sort by what they count as submitted at, then by id.

    `predicted`: its likely run time; `shift`: how much later it counts for that.
    """

    counts_from: float
    id: JobId
    job: QueuedJob
    traits: Traits
    line: int
    predicted: float | None
    shift: float


Place = tuple[int, float, JobId, int]
"""Where a line stands before quota and fair share: its rank, what its first job counts from, that job, its number."""


class Lines:
    """All lines, the jobs in them, and which job comes next in each. `live`: the lines in which anybody waits, with the
    first of each."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.asks: dict[JobId, Ask] = {}
        self.live: dict[int, Ask] = {}
        self.shapes: dict[Shape, list[Place]] = {}
        self._numbers: dict[Common, int] = {}
        self._shapes: list[Shape] = []
        self._queues: list[list[Ask]] = []
        self._heads: list[int] = []
        self._owned: set[int] | None = None

    def copy(self) -> "Lines":
        """Lines that change apart from these; a queue is copied when it is first added to."""
        twin = object.__new__(Lines)
        twin.lines, twin._numbers, twin._shapes = self.lines[:], self._numbers.copy(), self._shapes[:]
        twin.asks, twin.live = self.asks.copy(), self.live.copy()
        twin.shapes = {shape: places[:] for shape, places in self.shapes.items()}
        twin._queues, twin._heads, twin._owned = self._queues[:], self._heads[:], set()
        return twin

    def number(self, common: Common) -> int:
        """The number of the line of jobs with this in common; opens it."""
        found = self._numbers.get(common)
        if found is None:
            found = len(self.lines)
            line = Line._make(common)
            self._numbers[line] = found
            self.lines.append(line)
            self._shapes.append((line.pools, line.nodes, line.wanted))
            self._queues.append([])
            self._heads.append(0)
            if self._owned is not None:
                self._owned.add(found)
        return found

    def add(self, ask: Ask) -> None:
        """A job comes into its line."""
        self.asks[ask.id] = ask
        insort(self._own(ask.line), ask, lo=self._heads[ask.line])
        self._move(ask.line)

    def fill(self, asks: Sequence[Ask]) -> None:
        """Many jobs at once, into lines that are empty."""
        self.asks |= {ask.id: ask for ask in asks}
        for ask in asks:
            self._queues[ask.line].append(ask)
        for number in dict.fromkeys([ask.line for ask in asks]):
            queue = self._queues[number]
            queue.sort()
            self.live[number] = first = queue[0]
            self._places(number).append((self.lines[number].rank, first.counts_from, first.id, number))
        for places in self.shapes.values():
            places.sort()

    def head(self, line: int, after: int = 0) -> Ask:
        """The first job of a live line, or the one so many after it."""
        return self._queues[line][self._heads[line] + after]

    def length(self, line: int) -> int:
        """How many jobs stand in a line."""
        return len(self._queues[line]) - self._heads[line]

    def remove(self, job: JobId) -> Ask:
        """A job leaves: it started, or nobody wants it any more."""
        ask = self.asks.pop(job)
        number = ask.line
        if self.live[number] is ask:
            self._heads[number] += 1
        else:
            queue = self._own(number)
            del queue[bisect_left(queue, ask, lo=self._heads[number])]
        self._move(number)
        return ask

    def _move(self, number: int) -> None:
        """The line may have another first job than before, or none."""
        queue, at = self._queues[number], self._heads[number]
        before = self.live.get(number)
        after = queue[at] if at < len(queue) else None
        if before is after:
            return
        rank, places = self.lines[number].rank, self._places(number)
        if before is not None:
            del places[bisect_left(places, (rank, before.counts_from, before.id, number))]
        if after is not None:
            insort(places, (rank, after.counts_from, after.id, number))
            self.live[number] = after
        else:
            self._queues[number], self._heads[number] = [], 0
            del self.live[number]

    def _places(self, number: int) -> list[Place]:
        """Where the lines of this one's shape stand."""
        shape = self._shapes[number]
        places = self.shapes.get(shape)
        if places is None:
            places = self.shapes[shape] = []
        return places

    def waiting(self, line: int) -> Sequence[Ask]:
        """The jobs of a line, first in line first."""
        return self._queues[line][self._heads[line] :]

    def _own(self, line: int) -> list[Ask]:
        if self._owned is not None and line not in self._owned:
            self._owned.add(line)
            self._queues[line] = self._queues[line][self._heads[line] :]
            self._heads[line] = 0
        return self._queues[line]
