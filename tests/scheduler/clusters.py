"""Random clusters and queues, small enough to collide often: two engines, two types, holds, quotas, sick nodes."""

from datetime import datetime, timedelta

from hypothesis import strategies as st

from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.domain.resources import Node, NodeState, Placement
from headway.scheduler.snapshot import Hold, QueuedJob, RunningJob, Snapshot
from tests.builders import HOUR, MINUTE, NOW, a_node, a_queued, a_running

PROJECTS = ("vision", "speech")
TYPES = ("h200", "910b")
spans = st.integers(1, 6).map(lambda hours: hours * HOUR)
limits = st.none() | spans


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A consistent snapshot: no device belongs to two running jobs or holds."""
    nodes = draw(st.lists(_nodes(), min_size=1, max_size=6))
    nodes = [a_node(f"n{i}", **fields) for i, fields in enumerate(nodes)]
    queued = [draw(_queued(f"q{i}")) for i in range(draw(st.integers(0, 8)))]
    free = {node.name: list(range(node.devices)) for node in nodes}
    running = [draw(_running(f"r{i}", nodes, free)) for i in range(draw(st.integers(0, 4)))]
    holders = [job.id for job in queued] + [JobId("x0"), JobId("x1")]
    holds = [draw(_hold(job, nodes, free)) for job in draw(st.lists(st.sampled_from(holders), max_size=2, unique=True))]
    quotas = {(project, kind): draw(st.integers(0, 12)) for project in PROJECTS for kind in TYPES}
    return Snapshot(
        7, NOW, tuple(nodes), tuple(filter(None, running)), tuple(queued), quotas, tuple(filter(None, holds))
    )


@st.composite
def _nodes(draw: st.DrawFn) -> dict[str, object]:
    up = st.sampled_from([NodeState.UP] * 6 + [NodeState.CORDONED, NodeState.DOWN, NodeState.UNKNOWN])
    return {
        "devices": draw(st.sampled_from([1, 2, 4])),
        "engine": draw(st.sampled_from(["local", "local", "slurm"])),
        "device_type": draw(st.sampled_from(["h200", "h200", "910b"])),
        "state": draw(up),
    }


@st.composite
def _queued(draw: st.DrawFn, id: str) -> QueuedJob:
    return a_queued(
        id,
        draw(st.integers(1, 4)),
        draw(st.integers(1, 3)),
        types=draw(st.sampled_from([(), ("h200",), ("910b",), ("910b", "h200")])),
        age=draw(st.integers(0, 3)) * MINUTE,
        project=draw(st.sampled_from(PROJECTS)),
        priority=draw(st.sampled_from([Priority.HIGH, Priority.NORMAL])),
        limit=draw(limits),
        resuming=draw(st.booleans()),
    )


@st.composite
def _running(draw: st.DrawFn, id: str, nodes: list[Node], free: dict[str, list[int]]) -> RunningJob | None:
    kind, where = draw(_devices(nodes, free))
    ran: timedelta = draw(spans)
    expected: datetime | None = draw(st.none() | spans.map(lambda span: NOW + span - 2 * HOUR))
    fields = {"project": draw(st.sampled_from(PROJECTS)), "limit": draw(limits), "expected_end": expected}
    return a_running(id, where, ran=ran, device_type=kind, **fields) if where else None


@st.composite
def _hold(draw: st.DrawFn, job: JobId, nodes: list[Node], free: dict[str, list[int]]) -> Hold | None:
    kind, where = draw(_devices(nodes, free))
    until = NOW + draw(st.integers(-1, 3)) * HOUR
    placements = tuple(Placement(node, devices) for node, devices in where.items())
    project = draw(st.sampled_from(["", *PROJECTS]))
    return Hold(job, kind, placements, until, project) if where else None


@st.composite
def _devices(draw: st.DrawFn, nodes: list[Node], free: dict[str, list[int]]) -> tuple[str, dict[str, tuple[int, ...]]]:
    """Free devices of up to two nodes of one pool, no longer free afterwards."""
    first = draw(st.sampled_from(nodes))
    mates = [node for node in nodes if (node.engine, node.device_type) == (first.engine, first.device_type)]
    where = {}
    for node in mates[: draw(st.integers(1, 2))]:
        count = draw(st.integers(0, len(free[node.name])))
        if count:
            where[node.name] = tuple(free[node.name][:count])
            free[node.name] = free[node.name][count:]
    return first.device_type, where
