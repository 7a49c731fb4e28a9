"""What is kept for jobs, and until when: holds that have not expired.

A claim never says whether its node is up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from headway.domain.ids import JobId
from headway.domain.resources import Placement
from headway.scheduler.snapshot import Hold, Snapshot


@dataclass(frozen=True, slots=True)
class Claim:
    """Devices kept for one job. `ends` None: nobody knows when they come free."""

    job: JobId
    project: str
    device_type: str
    placements: tuple[Placement, ...]
    ends: datetime | None

    @property
    def devices(self) -> int:
        return sum(len(placement.devices) for placement in self.placements)


def held_claims(snapshot: Snapshot) -> Iterator[Claim]:
    """What is kept for jobs, less devices that a running job or an earlier hold has, or that are gone.

    The hold of a queued job has no end, since that job may take it at any cycle.
    """
    if not snapshot.holds:
        return
    free = {(node.name, device) for node in snapshot.nodes for device in range(node.devices)}
    free.difference_update((p.node, device) for job in snapshot.running for p in job.placements for device in p.devices)
    projects = {job.id: job.project for job in snapshot.queued}
    for hold in snapshot.holds:
        if hold.until <= snapshot.now:
            continue
        kept = tuple(_kept(hold, free))
        free.difference_update((p.node, device) for p in kept for device in p.devices)
        ends = None if hold.job in projects else hold.until
        yield Claim(hold.job, projects.get(hold.job, hold.project), hold.device_type, kept, ends)


def _kept(hold: Hold, free: set[tuple[str, int]]) -> Iterator[Placement]:
    for placement in hold.placements:
        devices = tuple(device for device in placement.devices if (placement.node, device) in free)
        if devices:
            yield Placement(placement.node, devices)
