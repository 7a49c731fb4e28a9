"""What people outside Headway use of an engine's nodes, as the scheduler sees it: jobs that it can only wait for."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Priority
from headway.domain.resources import Node, Occupied, Placement
from headway.scheduler.snapshot import RunningJob
from headway.store import nodes

# No project has this name, so that no quota pays for it.
OUTSIDE = "-"


def foreign(c: Connection, now: datetime, ours: Sequence[RunningJob]) -> tuple[RunningJob, ...]:
    """One job for each use of a node by others, on devices that Headway's own jobs do not have there."""
    used = nodes.occupied(c)
    if not used:
        return ()
    taken: dict[str, set[int]] = defaultdict(set)
    for job in ours:
        for placement in job.placements:
            taken[placement.node].update(placement.devices)
    return tuple(
        job for node in nodes.all(c) if node.name in used for job in _on(node, used[node.name], taken[node.name], now)
    )


def _on(node: Node, used: Sequence[Occupied], taken: set[int], now: datetime) -> list[RunningJob]:
    """Which of the devices others have is for the engine to know; here they are the last ones."""
    free = [device for device in reversed(range(node.devices)) if device not in taken]
    found = []
    for number, one in enumerate(used):
        devices, free = tuple(sorted(free[: one.devices])), free[one.devices :]
        if devices:
            found.append(_job(node, one, number, devices, now))
    return found


def _job(node: Node, one: Occupied, number: int, devices: tuple[int, ...], now: datetime) -> RunningJob:
    name = f"{node.engine}:{one.by}@{node.name}#{number}"
    return RunningJob(
        id=JobId(name),
        attempt=AttemptId(name),
        name=name,
        project=OUTSIDE,
        owner=one.by,
        priority=Priority.NORMAL,
        device_type=node.device_type,
        placements=(Placement(node.name, devices),),
        placed_at=now,
        template="",
        expected_end=one.until,
        protected=True,
        preemptible=False,
    )
