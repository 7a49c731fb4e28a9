"""What stood beside an attempt: who else had its nodes, what these nodes' kernels said, their links and mounts.

All of it in the attempt's own time, and somewhat before and after. It names no cause.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.ids import JobId
from headway.domain.node_events import NodeChanged, NodeFaultSeen
from headway.server.operations.nodes.node_reports import key_of
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs

AROUND = timedelta(minutes=10)
LINKS_AND_MOUNTS = ("nic_", "ib_", "network_", "mount_")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another attempt on a node. `job` None: of a project that one may not read."""

    node: str
    devices: tuple[int, ...]
    began: datetime
    ended: datetime | None
    job: JobId | None


@dataclass(frozen=True, slots=True)
class NodeWord:
    """What a node's kernel, or an operator, said of it; `kind` is the fact's."""

    at: datetime
    node: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Measure:
    """A link's or a mount's reading over the window."""

    node: str
    name: str
    minimum: float
    mean: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Beside:
    """The window, and what was in it."""

    since: datetime
    until: datetime
    neighbours: tuple[Neighbour, ...]
    words: tuple[NodeWord, ...]
    measures: tuple[Measure, ...]


def beside(platform: Platform, c: Connection, attempt: Attempt, projects: frozenset[str] | None) -> Beside:
    """What stood beside it; `projects`: of which others may be named (None: all)."""
    since = attempt.placed_at - AROUND
    until = (attempt.ended_at or platform.clock.now()) + AROUND
    own = {placement.node for placement in attempt.placements}
    return Beside(
        since=since,
        until=until,
        neighbours=tuple(_neighbours(c, attempt, own, until, projects)),
        words=tuple(_words(c, own, since, until)),
        measures=tuple(_measures(platform, own, since, until)),
    )


def _neighbours(
    c: Connection, attempt: Attempt, own: set[str], until: datetime, projects: frozenset[str] | None
) -> Iterator[Neighbour]:
    for other in attempts.since(c, attempt.placed_at):
        if other.id == attempt.id or other.placed_at > until:
            continue
        shared = [placement for placement in other.placements if placement.node in own]
        job = jobs.get(c, other.job) if shared else None
        named = job is not None and (projects is None or job.spec.project in projects)
        for placement in shared:
            who = other.job if named else None
            yield Neighbour(placement.node, placement.devices, other.placed_at, other.ended_at, who)


def _words(c: Connection, own: set[str], since: datetime, until: datetime) -> Iterator[NodeWord]:
    for fact in facts.all(c, kinds=(NodeFaultSeen.kind, NodeChanged.kind)):
        if isinstance(fact, NodeFaultSeen) and fact.node in own and since <= fact.at <= until:
            yield NodeWord(fact.at, fact.node, fact.kind, fact.text)
        elif isinstance(fact, NodeChanged) and fact.node in own and since <= fact.at <= until:
            yield NodeWord(fact.at, fact.node, fact.kind, " ".join(filter(None, (fact.state, fact.reason))))


def _measures(platform: Platform, own: set[str], since: datetime, until: datetime) -> Iterator[Measure]:
    for node in sorted(own):
        key = key_of(node)
        for name in platform.readings.names(key):
            if not name.startswith(LINKS_AND_MOUNTS):
                continue
            for series in platform.readings.series(key, name, since=since, until=until, points=1):
                for point in series.points:
                    yield Measure(node, name, point.minimum, point.mean, point.maximum)
