"""Values for tests, complete with defaults: a test names only what it is about.

`a_job` is a submitted job of the domain; `a_queued`, `a_running`, `a_hold` and `a_snapshot` are the scheduler's views.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from headway.domain.ids import JobId, attempt_id
from headway.domain.job import Job, JobKind, JobSpec, Priority
from headway.domain.lifecycle import JobState
from headway.domain.resources import Node, Placement, Request
from headway.scheduler.snapshot import Hold, QueuedJob, RunningJob, Snapshot

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

Where = Mapping[str, Iterable[int]]
"""Device indices by node: `{"n1": (0, 1)}`."""


def a_request(devices: int = 1, nodes: int = 1, types: tuple[str, ...] = ()) -> Request:
    """`devices` on each of `nodes` nodes, one rank a device."""
    return Request(nodes=nodes, devices_per_node=devices, ranks_per_node=devices, device_types=types)


def a_spec(name: str = "train", devices: int = 1, nodes: int = 1, **fields: Any) -> JobSpec:
    """What somebody submits to project `vision`."""
    defaults: dict[str, Any] = {
        "project": "vision",
        "kind": JobKind.TRAINING,
        "template": "tiny-gpt",
        "command": ("python3", "train.py"),
        "request": a_request(devices, nodes),
    }
    return JobSpec(name=name, **(defaults | fields))


def a_job(id: str = "j-1", devices: int = 1, nodes: int = 1, *, spec: JobSpec | None = None, **fields: Any) -> Job:
    """A submitted job, queued unless `state` says otherwise."""
    defaults: dict[str, Any] = {"owner": "ann", "state": JobState.QUEUED, "submitted_at": NOW}
    return Job(id=JobId(id), spec=spec or a_spec(id, devices, nodes), **(defaults | fields))


def a_node(name: str = "n1", devices: int = 8, **fields: Any) -> Node:
    """A node of engine `local` with devices of type `h200`, up."""
    return Node(name=name, devices=devices, **({"engine": "local", "device_type": "h200"} | fields))


def a_queued(
    id: str = "j-1",
    devices: int = 1,
    nodes: int = 1,
    *,
    types: tuple[str, ...] = (),
    age: timedelta = HOUR,
    **fields: Any,
) -> QueuedJob:
    """A job of project `vision` that has waited for `age`."""
    defaults: dict[str, Any] = {
        "name": id,
        "project": "vision",
        "owner": "ann",
        "priority": Priority.NORMAL,
        "request": a_request(devices, nodes, types),
        "submitted_at": NOW - age,
        "template": "tiny-gpt",
    }
    return QueuedJob(id=JobId(id), **(defaults | fields))


def a_running(id: str, where: Where, *, ran: timedelta = HOUR, **fields: Any) -> RunningJob:
    """A job of project `vision` that has run for `ran` on these devices."""
    defaults: dict[str, Any] = {
        "attempt": attempt_id(JobId(id), 1),
        "name": id,
        "project": "vision",
        "owner": "ann",
        "priority": Priority.NORMAL,
        "device_type": "h200",
        "placements": placements(where),
        "placed_at": NOW - ran,
        "template": "tiny-gpt",
    }
    return RunningJob(id=JobId(id), **(defaults | fields))


def a_hold(job: str, where: Where, *, until: datetime = NOW + HOUR, **fields: Any) -> Hold:
    """Devices kept for a job."""
    return Hold(job=JobId(job), placements=placements(where), until=until, **({"device_type": "h200"} | fields))


def a_snapshot(
    nodes: Iterable[Node] = (),
    queued: Iterable[QueuedJob] = (),
    running: Iterable[RunningJob] = (),
    *,
    holds: Iterable[Hold] = (),
    quotas: Mapping[tuple[str, str], int] | None = None,
    now: datetime = NOW,
) -> Snapshot:
    """A cluster at one moment; unless `quotas` says otherwise no project of these jobs ever reaches its quota."""
    nodes, queued, running = tuple(nodes), tuple(queued), tuple(running)
    plenty = {(job.project, node.device_type): 10**6 for job in (*queued, *running) for node in nodes}
    return Snapshot(
        version=1,
        now=now,
        nodes=nodes,
        running=running,
        queued=queued,
        quotas=plenty if quotas is None else quotas,
        holds=tuple(holds),
    )


def placements(where: Where) -> tuple[Placement, ...]:
    """Placements from device indices by node."""
    return tuple(Placement(node, tuple(devices)) for node, devices in where.items())
