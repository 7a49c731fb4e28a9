"""When the same queue would be planned otherwise although nothing is recorded: moments that time alone brings.

Decides only when to plan again; what is planned then is the cycle's. Ends of running jobs are no such moments: they are
recorded when they come.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from headway.domain.quota import Entry, flat
from headway.scheduler.snapshot import RunningJob, Snapshot


def next_moment(snapshot: Snapshot) -> datetime | None:
    """The first after the snapshot's own at which to plan again; None where nobody waits, or none is known."""
    if not snapshot.queued:
        return None
    return min((moment for moment in _moments(snapshot) if moment > snapshot.now), default=None)


def _moments(snapshot: Snapshot) -> Iterator[datetime]:
    """A borrower has had its minimum run time, a hold or window ends, a job's hour comes, a grant begins or ends."""
    if snapshot.policy.reclaim:
        yield from (job.placed_at + snapshot.policy.min_run for job in _takeable(snapshot))
    yield from (hold.until for hold in snapshot.holds)
    yield from (window.ends for window in snapshot.windows)
    yield from (job.not_before for job in snapshot.queued if job.not_before is not None)
    for grant in snapshot.grants:
        yield from (grant.begins, grant.ends)


def _takeable(snapshot: Snapshot) -> list[RunningJob]:
    """Jobs of projects that have more than their guarantee of a device type: what they borrowed may be reclaimed."""
    tree = snapshot.tree or flat(snapshot.quotas)
    has: Counter[tuple[str, str]] = Counter()
    for job in snapshot.running:
        has[job.project, job.device_type] += sum(len(placement.devices) for placement in job.placements)
    for grant in snapshot.grants:
        if grant.holds_at(snapshot.now):
            has[grant.project, grant.device_type] -= grant.devices
    beyond = {key for key, devices in has.items() if devices > (tree.entry(*key) or Entry()).guaranteed}
    return [
        job
        for job in snapshot.running
        if (job.project, job.device_type) in beyond and not job.protected and not job.stopping
    ]
