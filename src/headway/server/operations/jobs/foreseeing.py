"""What would follow a submission: checked as one, scheduled with the queue as it is, and nothing kept.

Beside the scheduler's outlook it says what the quota table would look like with the job on its devices.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headway.domain.ids import JobId
from headway.domain.job import JobSpec
from headway.domain.quota import QuotaTree
from headway.scheduler.outlook import Outlook, outlook
from headway.scheduler.snapshot import QueuedJob, Snapshot
from headway.server.operations.jobs.arrays import TICK
from headway.server.operations.queue.foretelling import LEARNT_FROM, draws_for, learnt, told
from headway.server.operations.queue.looking import look
from headway.server.platform import Platform
from headway.store import past, predictions
from headway.store.predictions import Prediction


@dataclass(frozen=True, slots=True)
class QuotaAfter:
    """What a branch of the table holds of a device type, and would hold with the jobs on theirs.

    `own`: guaranteed and granted; `ceiling`: the most it may hold, None: any number; `borrowed_after`: beyond `own`.
    """

    branch: str
    device_type: str
    own: int
    ceiling: int | None
    used: int
    after: int
    borrowed_after: int


@dataclass(frozen=True, slots=True)
class World:
    """The queue as it is, and what earlier predictions came to."""

    snapshot: Snapshot
    predictions: Sequence[Prediction]


def world_of(platform: Platform, c: Connection) -> World:
    """Everything an outlook needs, read at one moment."""
    now = platform.clock.now()
    seen = look(platform.settings, platform.memory, c, now)
    return World(seen, predictions.started(c, now - LEARNT_FROM))


def foresee(world: World, specs: Sequence[JobSpec], by: str) -> list[Outlook]:
    """The outlook of each, submitted together now; ranges are calibrated as those that are told to waiting jobs."""
    seen = world.snapshot
    wanted = [_queued(spec, by, seen, number) for number, spec in enumerate(specs)]
    found = outlook(seen, wanted, draws_for(seen))
    there = replace(seen, queued=tuple(wanted))
    ranges = told([one.forecast for one in found], there, learnt(world.predictions))
    return [replace(one, forecast=range_) for one, range_ in zip(found, ranges, strict=True)]


def quota_after(seen: Snapshot, spec: JobSpec, devices: int, on: str | None) -> list[QuotaAfter]:
    """The project and the departments above it, with so many more devices of the type `on`, or of each it accepts."""
    tree = seen.tree or QuotaTree()
    accepted = {node.device_type for node in seen.nodes if spec.request.accepts(node.device_type)}
    return [
        after
        for kind in sorted(accepted if on is None else {on})
        for after in _after(seen, tree, spec, (kind, devices))
    ]


def _after(seen: Snapshot, tree: QuotaTree, spec: JobSpec, more: tuple[str, int]) -> Iterator[QuotaAfter]:
    kind, devices = more
    held = _by_branch(tree, _held(seen, kind))
    granted = _by_branch(tree, _granted(seen, kind))
    for branch in tree.path(spec.project):
        entry = branch.entries.get(kind)
        if entry is None:
            continue
        extra, used = granted.get(branch.name, 0), held.get(branch.name, 0)
        own = entry.guaranteed + extra
        yield QuotaAfter(
            branch=branch.name,
            device_type=kind,
            own=own,
            ceiling=None if entry.ceiling is None else entry.ceiling + extra,
            used=used,
            after=used + devices,
            borrowed_after=max(0, used + devices - own),
        )


def _held(seen: Snapshot, kind: str) -> dict[str, int]:
    held: dict[str, int] = {}
    for job in seen.running:
        if job.device_type == kind:
            held[job.project] = held.get(job.project, 0) + sum(len(p.devices) for p in job.placements)
    return held


def _granted(seen: Snapshot, kind: str) -> dict[str, int]:
    granted: dict[str, int] = {}
    for grant in seen.grants:
        if grant.device_type == kind and grant.holds_at(seen.now):
            granted[grant.project] = granted.get(grant.project, 0) + grant.devices
    return granted


def _by_branch(tree: QuotaTree, projects: Mapping[str, int]) -> dict[str, int]:
    """Sums of every branch: a department has what is below it."""
    sums: dict[str, int] = {}
    for project, count in projects.items():
        for branch in tree.path(project):
            sums[branch.name] = sums.get(branch.name, 0) + count
    return sums


def _queued(spec: JobSpec, by: str, seen: Snapshot, number: int) -> QueuedJob:
    """The job as the scheduler would see it; of an array each a moment after the one before."""
    conditions = spec.conditions
    return replace(
        past.asked(JobId(f"j-dry-run-{number + 1}"), spec, by, seen.now + number * TICK),
        after=conditions.after,
        after_ok=conditions.after_ok,
        array=conditions.array,
        array_cap=conditions.array_cap,
        engines=conditions.engines,
        excluded=frozenset(conditions.excluded),
        not_before=conditions.not_before,
    )
