"""What was last heard of every running attempt, in memory, for the watch over stalls; and the looks that are under way.

Fed by reports as they come, read by the loop. It is never the only record of anything: a server that starts again hears
everything anew within seconds.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock

from headway.diagnosis.hang.scene import Scene
from headway.diagnosis.stall.signs import STARTUP, TRAIN, Activity
from headway.domain.ids import AttemptId
from headway.server.wire import LookOrder, RankEvent, ReadingSeen

FRESH = timedelta(seconds=15)
SAVING = "save"
Key = tuple[str, int | None, int | None, str]
Step = tuple[datetime, int]


@dataclass(slots=True)
class Heard:
    """One attempt: when each node was heard, its newest readings, each rank's step and phase, news of its steps."""

    nodes: dict[str, datetime] = field(default_factory=dict)
    readings: dict[Key, tuple[datetime, float]] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    phases: dict[int, str] = field(default_factory=dict)
    news: list[Step] = field(default_factory=list)
    least: int | None = None

    def event(self, rank: int, event: RankEvent) -> None:
        """Progress, phases and savings of one rank; the attempt stands where its last rank stands."""
        if event.kind == "phase" and event.name:
            self.phases[rank] = event.name
        elif event.kind == "saving":
            self.phases[rank] = SAVING
        elif self.phases.get(rank) == SAVING and event.kind in ("checkpoint-saved", "progress"):
            self.phases.pop(rank)
        if event.kind == "progress" and event.step is not None:
            self.steps[rank] = event.step
            least = min(self.steps.values())
            if least != self.least:
                self.least = least
                self.news.append((event.t, least))

    @property
    def phase(self) -> str | None:
        """A phase that any rank is in and that is no training, the first rank's before the others'."""
        told = [self.phases[rank] for rank in sorted(self.phases)]
        return next((phase for phase in told if phase not in (STARTUP, TRAIN)), None)

    def value(self, key: Key, now: datetime) -> float | None:
        """A reading, if it is fresh."""
        at, value = self.readings.get(key, (None, 0.0))
        return value if at is not None and now - at <= FRESH else None

    def activity(self, node: str, rank: int, devices: Sequence[int], now: datetime) -> Activity:
        """What one rank does, and the cards that are its own."""

        def of_rank(name: str) -> float | None:
            return self.value((node, rank, None, name), now)

        def of_cards(name: str) -> float | None:
            found = [self.value((node, None, device, name), now) for device in devices]
            return max((value for value in found if value is not None), default=None)

        cpu = of_rank("processes_cpu_percent")
        return Activity(
            cpu_percent=cpu if cpu is not None else of_rank("cpu_percent"),
            stopped=bool(of_rank("processes_stopped")),
            uninterruptible=bool(of_rank("processes_held")),
            remote=bool(of_rank("processes_held_remotely")),
            file_bytes_per_s=of_rank("file_bytes_per_s"),
            card_percent=of_cards("device_utilisation_percent"),
            card_watts=of_cards("device_power_watts"),
        )

    def flow(self, names: Collection[str], now: datetime) -> float | None:
        """The sum of node readings of these names over all nodes; None where none is fresh."""
        found = [self.value((node, None, None, name), now) for node in self.nodes for name in names]
        known = [value for value in found if value is not None]
        return sum(known) if known else None


@dataclass(slots=True)
class Look:
    """A look under way: the nodes that have not answered, and what the others showed."""

    name: str
    kind: str
    at: datetime
    waits_for: set[str]
    scenes: list[Scene] = field(default_factory=list)


class Live:
    """Every running attempt. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._heard: dict[AttemptId, Heard] = {}
        self._looks: dict[AttemptId, Look] = {}

    def report(self, attempt: AttemptId, node: str, readings: Sequence[ReadingSeen], now: datetime) -> None:
        """An agent has spoken. Readings are as old as their arrival: clocks of nodes may differ."""
        with self._lock:
            heard = self._heard.setdefault(attempt, Heard())
            heard.nodes[node] = now
            for one in readings:
                heard.readings[node, one.rank, one.device, one.name] = (now, one.value)

    def event(self, attempt: AttemptId, rank: int, event: RankEvent) -> None:
        """A rank has spoken."""
        with self._lock:
            self._heard.setdefault(attempt, Heard()).event(rank, event)

    def heard(self, attempt: AttemptId) -> tuple[Heard, tuple[Step, ...]]:
        """What was last heard of an attempt, and the steps since the last call."""
        with self._lock:
            heard = self._heard.setdefault(attempt, Heard())
            news, heard.news = tuple(heard.news), []
            copy = replace(heard, nodes=dict(heard.nodes), readings=dict(heard.readings), phases=dict(heard.phases))
            return copy, news

    def order(self, attempt: AttemptId, look: Look) -> None:
        """Ask the agents of an attempt for a look, in place of an earlier one."""
        with self._lock:
            self._looks[attempt] = look

    def looks(self, attempt: AttemptId, node: str) -> list[LookOrder]:
        """What a node's agent is still to look at."""
        look = self._looks.get(attempt)
        return [LookOrder(look=look.name, kind=look.kind)] if look and node in look.waits_for else []

    def takes(self, attempt: AttemptId, node: str, name: object) -> bool:
        """Whether a scene of this look is waited for from this node."""
        look = self._looks.get(attempt)
        return look is not None and look.name == name and node in look.waits_for

    def arrived(self, attempt: AttemptId, scene: Scene) -> None:
        """A scene has come."""
        with self._lock:
            look = self._looks.get(attempt)
            if look is not None and look.name == scene.look:
                look.waits_for.discard(scene.node)
                look.scenes.append(scene)

    def look(self, attempt: AttemptId) -> Look | None:
        """The look at an attempt, under way or done."""
        return self._looks.get(attempt)

    def done(self, attempt: AttemptId) -> None:
        """A look is not needed any more."""
        with self._lock:
            self._looks.pop(attempt, None)

    def keep(self, running: Collection[AttemptId]) -> None:
        """Forget every attempt but these."""
        with self._lock:
            self._heard = {id: heard for id, heard in self._heard.items() if id in running}
            self._looks = {id: look for id, look in self._looks.items() if id in running}
