"""Which checkpoints of a running job go, read from rows and readings and decided by `registry`; and what became of it.

Only jobs that say more of what stays than how many (`keep_every_steps`, `keep_best`) are thinned from here: for all
others the in-job SDK keeps the last few, what a framework saved is left to it, and only a disk that fills is foretold.
The deleting is done by the first node's agent, as the job's user.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.cadence_events import CheckpointDeleted
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.ids import JobId
from headway.domain.job import CheckpointPolicy, Job
from headway.registry.filling import others_rate
from headway.registry.retention import Decision, Space, Why, left_alone, retain
from headway.server.platform import Discard, Platform
from headway.server.wire import Discarded
from headway.store import assets, attempts, checkpoints, facts

POINTS = 2000
LOOK_BACK = timedelta(hours=6)
FAR = 50
"""A disk that takes so many more saves is not short, however others fill it: their readings are left unread."""


def is_thinned(policy: CheckpointPolicy) -> bool:
    """Whether the platform, and not the in-job SDK, lets this job's checkpoints go."""
    return policy.keep_every_steps is not None or policy.keep_best > 0


def decide(platform: Platform, c: Connection, job: Job, attempt: Attempt) -> Decision:
    """What of a job's checkpoints goes now, and how soon their disk is full."""
    saved = checkpoints.of_job(c, job.id)
    policy = job.spec.checkpoint
    space = _space(platform, c, attempt, saved, policy.keep)
    if not is_thinned(policy):
        return left_alone(saved, policy, space)
    metrics = _metrics(platform, attempt, policy.metric, saved) if policy.keep_best else {}
    return retain(saved, policy, _needed(c, job.id, saved), metrics, space)


def orders_of(decision: Decision, folder: Path) -> dict[str, Discard]:
    """What the agent is to delete, by path below the job's folder."""
    return {
        str(Path(each.path).relative_to(folder)): Discard(each.bytes if each.format else None, cause)
        for each, cause in decision.goes
        if Path(each.path).is_relative_to(folder)
    }


def record_discarded(
    platform: Platform, c: Connection, attempt: Attempt, told: Iterable[Discarded], at: datetime
) -> None:
    """Note what an agent deleted; what it kept stays as it is, and is decided on again."""
    ordered = platform.discards.get(attempt.id, {})
    folder = platform.checkpoints / attempt.job
    known = {each.path: each for each in checkpoints.of_job(c, attempt.job)} if ordered else {}
    for each in told:
        order, row = ordered.pop(each.path, None), known.get(str(folder / each.path))
        if order is None or row is None or (each.kept and each.kept != "missing"):
            continue
        checkpoints.set_state(c, attempt.job, row.path, CheckpointState.DELETED, order.cause)
        gone = CheckpointDeleted(
            at=at, by="agent", job=attempt.job, step=row.step, path=row.path, bytes=row.bytes, cause=order.cause
        )
        facts.append(c, gone)


def _needed(c: Connection, job: JobId, saved: Iterable[Checkpoint]) -> dict[str, Why]:
    """What is pinned, what versions were made of, and what attempts, of this job or another, go on from."""
    paths = {each.path for each in saved}
    needed = {each.path: Why.PINNED for each in saved if each.pinned_by is not None}
    needed |= {version.lineage.checkpoint: Why.VERSION for version in assets.models(c) if version.lineage.job == job}
    resumed = {attempt.resume_from for attempt in (*attempts.live(c), *attempts.of_job(c, job)[-1:])}
    needed |= {path: Why.RESUME for path in resumed if path is not None}
    return {path: why for path, why in needed.items() if path in paths}


def _metrics(platform: Platform, attempt: Attempt, name: str, saved: Iterable[Checkpoint]) -> Mapping[int, float]:
    """The metric's newest value when each checkpoint was saved, by step."""
    series = platform.readings.series(attempt.id, name, points=POINTS)
    points = sorted((point.at, point.mean) for each in series for point in each.points)
    found: dict[int, float] = {}
    for checkpoint in saved:
        before = [value for at, value in points if at <= checkpoint.saved_at]
        if before:
            found[checkpoint.step] = before[-1]
    return found


def _space(platform: Platform, c: Connection, attempt: Attempt, saved: list[Checkpoint], keep: int) -> Space | None:
    """The room on the file system of the checkpoints, as the first node's agent measured it."""
    node = attempt.placements[0].node
    told = {each.name: each.value for each in platform.readings.latest(attempt.id) if each.node == node}
    total, used = told.get("disk_total_bytes"), told.get("disk_used_bytes")
    if total is None or used is None or not saved:
        return None
    times = sorted(each.saved_at for each in saved)
    every = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None
    largest = max(each.bytes for each in saved)
    space = Space(int(total - used), largest, every if every and every > timedelta(0) else None)
    if space.saves_left > FAR:
        return space
    others = others_rate(_used(platform, attempt, node), _own(c, saved, keep))
    return replace(space, others_bytes_per_s=others)


def _used(platform: Platform, attempt: Attempt, node: str) -> list[tuple[datetime, float]]:
    """The bytes in use of late, oldest first."""
    since = platform.clock.now() - LOOK_BACK
    series = platform.readings.series(attempt.id, "disk_used_bytes", node=node, since=since, points=POINTS)
    return sorted((point.at, point.mean) for each in series for point in each.points)


def _own(c: Connection, saved: list[Checkpoint], keep: int) -> list[tuple[datetime, int]]:
    """When this job's checkpoints came and went. One that nobody told of went when the SDK had `keep` newer ones."""
    rows = sorted(saved, key=lambda each: each.saved_at)
    told = facts.all(c, job=rows[0].job, kinds={CheckpointDeleted.kind})
    gone = {fact.path: fact.at for fact in told if isinstance(fact, CheckpointDeleted)}
    lost = [
        (gone.get(each.path, rows[min(number + keep, len(rows) - 1)].saved_at), -each.bytes)
        for number, each in enumerate(rows)
        if each.state is CheckpointState.DELETED
    ]
    return [(each.saved_at, each.bytes) for each in rows] + lost
