"""What stood beside an attempt: who else had its nodes or its network mounts, what these nodes' kernels and its engine
said, their links and mounts.

All of it in the attempt's own time, and somewhat before and after. It names no cause.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection

from headway.diagnosis.cases.shared import network_source
from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.node_events import NodeChanged, NodeFaultSeen
from headway.engines.protocol import Engine, Handle
from headway.server.operations.nodes.node_reports import key_of
from headway.server.platform import Platform
from headway.store import agents, attempts, facts, jobs

AROUND = timedelta(minutes=10)
KERNEL = "kernel"
HANDLES = TypeAdapter(Handle)
LOG_BYTES, LOG_PATIENCE_S = 16 << 10, 5.0
LINKS_AND_MOUNTS = ("nic_", "ib_", "network_", "mount_")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another attempt on a node of its own, whose links it shares, or elsewhere on a network `mount` of its own.

    `job` None: of a project that one may not read.
    """

    node: str
    devices: tuple[int, ...]
    began: datetime
    ended: datetime | None
    job: JobId | None
    mount: str | None = None


@dataclass(frozen=True, slots=True)
class NodeWord:
    """What a node's kernel, or an operator, said of it; `kind`: the fact's, or `kernel` for a line of its log."""

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
class EngineWord:
    """The end of what the engine, its batch system or container, and the agent said themselves of one node's part."""

    node: str
    text: str


@dataclass(frozen=True, slots=True)
class Beside:
    """The window, and what was in it."""

    since: datetime
    until: datetime
    neighbours: tuple[Neighbour, ...]
    words: tuple[NodeWord, ...]
    measures: tuple[Measure, ...]
    engine: tuple[EngineWord, ...] = ()


async def engine_words(platform: Platform, attempt: Attempt) -> tuple[EngineWord, ...]:
    """What the engine still has of its own log, for each node; nothing of one that is not reached in time."""
    kept = await asyncio.to_thread(_kept_handle, platform, attempt)
    engine = platform.engines.get(attempt.engine)
    if engine is None or not kept:
        return ()
    handle = HANDLES.validate_python(kept)
    found = await asyncio.gather(*(_end_of_log(engine, handle, node) for node in handle.nodes))
    return tuple(EngineWord(node, text) for node, text in zip(handle.nodes, found, strict=True) if text)


def _kept_handle(platform: Platform, attempt: Attempt) -> dict[str, Any] | None:
    with platform.database.read() as c:
        return attempts.handle(c, attempt.id)


async def _end_of_log(engine: Engine, handle: Handle, node: str) -> str:
    tail = b""
    with suppress(PlatformError, OSError, TimeoutError):
        async with asyncio.timeout(LOG_PATIENCE_S):
            async for piece in engine.logs(handle, node):
                tail = (tail + piece)[-LOG_BYTES:]
    return tail.decode("utf-8", "replace")


def beside(platform: Platform, c: Connection, attempt: Attempt, projects: frozenset[str] | None) -> Beside:
    """What stood beside it; `projects`: of which others may be named (None: all)."""
    since = attempt.placed_at - AROUND
    until = (attempt.ended_at or platform.clock.now()) + AROUND
    own = {placement.node for placement in attempt.placements}
    return Beside(
        since=since,
        until=until,
        neighbours=tuple(_neighbours(c, attempt, own, until, projects)),
        words=tuple(sorted(_said(platform, c, attempt, own, since, until), key=lambda word: word.at)),
        measures=tuple(_measures(platform, own, since, until)),
    )


def _neighbours(
    c: Connection, attempt: Attempt, own: set[str], until: datetime, projects: frozenset[str] | None
) -> Iterator[Neighbour]:
    mounts = _network_mounts(c, attempt)
    for other in attempts.since(c, attempt.placed_at):
        if other.id == attempt.id or other.placed_at > until:
            continue
        here = {placement.node for placement in other.placements} & own
        shared = set() if here or not mounts else _network_mounts(c, other) & mounts
        if not here and not shared:
            continue
        job = jobs.get(c, other.job)
        named = job is not None and (projects is None or job.spec.project in projects)
        who, mount = other.job if named else None, min(shared, default=None)
        for placement in other.placements:
            if mount is not None or placement.node in own:
                yield Neighbour(placement.node, placement.devices, other.placed_at, other.ended_at, who, mount)


def _network_mounts(c: Connection, attempt: Attempt) -> set[str]:
    """What lies behind the network file systems that an attempt uses, as its agents found them."""
    told = [
        str(mount).split(" ", 1) for part in agents.of_attempt(c, attempt.id) for mount in part.given.get("mounts", ())
    ]
    found = [network_source({"kind": kind, "source": source}) for kind, source in told]
    return {source for source in found if source is not None}


def _said(
    platform: Platform, c: Connection, attempt: Attempt, own: set[str], since: datetime, until: datetime
) -> Iterator[NodeWord]:
    """What was told as facts, and the kernels' lines that its agents kept as it broke or hung."""
    known = set()
    for word in _words(c, own, since, until):
        known.add((word.node, word.text))
        yield word
    for _, node, scene in platform.scenes.of_attempt(attempt.id):
        for line in scene.get("kernel") or ():
            at = datetime.fromtimestamp(float(line["t"]), UTC)
            if since <= at <= until and (node, line["text"]) not in known:
                known.add((node, line["text"]))
                yield NodeWord(at, node, KERNEL, str(line["text"]))


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
