"""Every card: who holds it, at which step, how long still, and whether it does anything, as far as it is measured."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection

from headway.diagnosis.idle import QUIET, Activity, Doing, judge
from headway.domain.attempt import Attempt
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.resources import Node, NodeState
from headway.server.operations.nodes.node_reports import key_of
from headway.server.platform import Platform
from headway.store import agents, attempts, jobs, nodes, snapshot
from headway.store.readings import Reading, Series

CARD = "device_utilisation_percent"
PROCESSES = ("processes_cpu_percent", "cpu_percent")
SLOT = "cpu"
"""The device type whose devices are slots of the machine itself: what its processes do is what it does."""
LIVE = tuple(state for state in JobState if not state.is_terminal and state is not JobState.QUEUED)


class CardState(StrEnum):
    """`idle`: held and doing nothing; `unknown`: held, and nobody measures it; `others`: not Headway's now."""

    FREE = "free"
    WORKING = "working"
    IDLE = "idle"
    UNKNOWN = "unknown"
    OTHERS = "others"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a node. `held_since` from the placement; `idle_since` from readings; `ends`: by its job's own steps.

    `measured_at`: of an unknown one, when it was measured last. None: nobody holds it, or nobody knows.
    """

    node: str
    device: int
    device_type: str
    state: CardState
    project: str | None = None
    owner: str | None = None
    job: JobId | None = None
    name: str | None = None
    attempt: AttemptId | None = None
    held_since: datetime | None = None
    idle_since: datetime | None = None
    measured_at: datetime | None = None
    step: int | None = None
    total: int | None = None
    ends: datetime | None = None


def cards(platform: Platform, c: Connection, now: datetime) -> Iterator[Card]:
    """Every card of every node, by node and number."""
    held = _held(platform, c, now)
    others = nodes.occupied(c)
    for node in nodes.all(c):
        taken = sum(one.devices for one in others.get(node.name, ()))
        for device in range(node.devices):
            card = held.get((node.name, device))
            if card is None:
                card = Card(node.name, device, node.device_type, _unheld(node, device, taken))
            yield card


def _unheld(node: Node, device: int, taken: int) -> CardState:
    """Which of a node's cards others have is not told, only how many: its last ones are shown as theirs."""
    if node.state is NodeState.DOWN:
        return CardState.DOWN
    return CardState.OTHERS if device >= node.devices - taken else CardState.FREE


def _held(platform: Platform, c: Connection, now: datetime) -> dict[tuple[str, int], Card]:
    owners = {job.id: job for job in jobs.in_states(c, *LIVE)}
    ends = {running.attempt: running.expected_end for running in snapshot.running(c, now)}
    found: dict[tuple[str, int], Card] = {}
    for attempt in attempts.live(c):
        job = owners.get(attempt.job)
        if job is None:
            continue
        plain = _plain(attempt, job, ends.get(attempt.id))
        doing = _Doing(platform, c, attempt, now)
        for placement in attempt.placements:
            for place, device in enumerate(placement.devices):
                activity = doing.of(placement.node, place, device)
                found[placement.node, device] = replace(
                    plain,
                    node=placement.node,
                    device=device,
                    state=CardState(activity.doing),
                    idle_since=activity.since if activity.doing is Doing.IDLE else None,
                    measured_at=activity.since if activity.doing is Doing.UNKNOWN else None,
                )
    return found


def _plain(attempt: Attempt, job: Job, ends: datetime | None) -> Card:
    return Card(
        node="",
        device=0,
        device_type=attempt.device_type,
        state=CardState.UNKNOWN,
        project=job.spec.project,
        owner=job.owner,
        job=job.id,
        name=job.spec.name,
        attempt=attempt.id,
        held_since=attempt.placed_at,
        step=attempt.step,
        total=job.total,
        ends=ends,
    )


class _Doing:
    """What the cards of one attempt do. The past is read only where the newest reading is quiet."""

    def __init__(self, platform: Platform, c: Connection, attempt: Attempt, now: datetime) -> None:
        self._platform, self._attempt, self._now = platform, attempt, now
        self._newest = platform.readings.latest(attempt.id)
        self._numbers = {part.node: part.given.get("cards") or [] for part in agents.of_attempt(c, attempt.id)}

    def of(self, node: str, place: int, device: int) -> Activity:
        """One card, the attempt's `place`-th of this node; its own number there is what its agent told, if it did."""
        if self._attempt.device_type == SLOT:
            name = next((name for name in PROCESSES if self._of_ranks(node, name)), PROCESSES[0])
            return self._judged(self._attempt.id, self._of_ranks(node, name))
        told = self._numbers.get(node, [])
        number = told[place] if place < len(told) else device
        mine = [each for each in self._newest if (each.node, each.device, each.name) == (node, number, CARD)]
        if mine:
            return self._judged(self._attempt.id, mine)
        daemon = self._platform.readings.latest(key_of(node))
        return self._judged(key_of(node), [each for each in daemon if (each.device, each.name) == (number, CARD)])

    def _of_ranks(self, node: str, name: str) -> list[Reading]:
        return [each for each in self._newest if each.node == node and each.name == name and each.rank is not None]

    def _judged(self, key: str, newest: list[Reading]) -> Activity:
        if not newest:
            return Activity(Doing.UNKNOWN)
        last = max(each.at for each in newest)
        if any(each.value >= QUIET for each in newest):
            return judge([(last, QUIET)], last, self._now)
        mine = {(each.node, each.rank, each.device) for each in newest}
        since = self._attempt.placed_at
        found = self._platform.readings.series(key, newest[0].name, node=newest[0].node, since=since)
        return judge(_busiest(one for one in found if (one.node, one.rank, one.device) in mine), last, self._now)


def _busiest(found: Iterable[Series]) -> list[tuple[datetime, float]]:
    """From when on, and the most that any of them was busy."""
    return sorted((point.at, point.maximum) for series in found for point in series.points)
