"""Watch: sees whether running attempts stand still, has their agents look at them, and does what their policy says.

A stalled job is stopped only after its evidence has come, or has been waited for long enough. Whether it stands still,
and whom it waits for, is decided by `diagnosis`.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from headway.diagnosis.hang.collectives import late
from headway.diagnosis.hang.judge import judge
from headway.diagnosis.hang.suspect import everyone
from headway.diagnosis.stall.signs import Patience, Signs
from headway.diagnosis.stall.watch import Moved, Stall, Watch
from headway.domain.attempt import STALLED, Attempt
from headway.domain.events import StopRequested
from headway.domain.ids import AttemptId
from headway.domain.job import Job, JobKind, WhenStalled
from headway.domain.lifecycle import AttemptState
from headway.domain.stall_events import Moving, RankSlow, Stalled, StallExplained
from headway.server.live import Look
from headway.server.operations.agents.ranks import ranks_of
from headway.server.operations.agents.report import broken_since
from headway.server.operations.agents.scenes import PACE
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs

log = structlog.get_logger("headway.watch")
REPORTS_MISSED = 5
EVIDENCE_PATIENCE = timedelta(seconds=30)
LONGEST_GRACE = timedelta(seconds=10)
FIRST_PACE = timedelta(seconds=60)
PACE_EVERY = timedelta(minutes=5)
PACE_AGAIN = timedelta(seconds=15)
REMEMBERED = timedelta(hours=2)
NETWORK = ("network_in_bytes_per_s", "network_out_bytes_per_s")
DISK = ("disk_read_bytes_per_s", "disk_write_bytes_per_s")


@dataclass(slots=True)
class Watched:
    """One running attempt under watch; `told`: its stall is a fact already."""

    job: Job
    attempt: Attempt
    watch: Watch
    pace_at: datetime
    told: bool = False
    explained: bool = False
    slow: int | None = None


class WatchStalls:
    """The loop's memory: a watch for each running attempt, begun anew with every attempt."""

    def __init__(self) -> None:
        self._watched: dict[AttemptId, Watched] = {}

    async def __call__(self, platform: Platform) -> None:
        await asyncio.to_thread(self._turn, platform)

    def _turn(self, platform: Platform) -> None:
        now = platform.clock.now()
        with platform.database.read() as c:
            live = attempts.live(c)
            new = {a.job: jobs.get(c, a.job) for a in live if a.id not in self._watched}
        running = {attempt.id: attempt for attempt in live if attempt.state == AttemptState.RUNNING}
        neighbours = Counter(placement.node for attempt in live for placement in attempt.placements)
        self._watched = {id: watched for id, watched in self._watched.items() if id in running}
        platform.live.keep(running)
        for id, attempt in running.items():
            job = new.get(attempt.job)
            if id not in self._watched and job is not None:
                self._watched[id] = _begin(platform, job, attempt, now)
            watched = self._watched[id]
            watched.attempt = attempt
            if not _could_stall(watched.job):
                continue
            alone = all(neighbours[placement.node] == 1 for placement in attempt.placements)
            change = watched.watch.see(_signs(platform, watched, now, alone))
            if change is not None:
                _say(platform, watched, change)
            if watched.watch.stall is not None:
                _follow(platform, watched, now)
            else:
                _look_at_pace(platform, watched, now)


def _could_stall(job: Job) -> bool:
    """Whether anybody wants to know: services stand still by nature."""
    return job.spec.kind != JobKind.SERVICE and job.spec.recovery.when_stalled is not WhenStalled.IGNORE


def _begin(platform: Platform, job: Job, attempt: Attempt, now: datetime) -> Watched:
    """A watch that knows the steps that were told before this server started."""
    watch = Watch(Patience(floor=job.spec.recovery.stall_after), now)
    for series in platform.readings.series(attempt.id, "step", rank=0, since=now - REMEMBERED, points=512)[:1]:
        for point in series.points:
            watch.rhythm.step(point.at, int(point.maximum))
    with platform.database.read() as c:
        stalled, moving = facts.last(c, job.id, Stalled), facts.last(c, job.id, Moving)
    told = stalled is not None and stalled.attempt == attempt.id and (moving is None or moving.at < stalled.at)
    return Watched(job, attempt, watch, now + FIRST_PACE, told=told)


def _signs(platform: Platform, watched: Watched, now: datetime, alone: bool) -> Signs:
    """What is seen of an attempt now; the network only where nobody else uses its nodes."""
    heard, news = platform.live.heard(watched.attempt.id)
    ranks = {}
    by_node = ranks_of(watched.job, watched.attempt)
    for placement in watched.attempt.placements:
        mine = by_node[placement.node]
        each = max(1, len(placement.devices) // max(1, len(mine)))
        for index, rank in enumerate(mine):
            devices = placement.devices[index * each : (index + 1) * each]
            ranks[rank] = heard.activity(placement.node, rank, devices, now)
    report = timedelta(seconds=platform.settings.report_s)
    spoken = [heard.nodes.get(placement.node) for placement in watched.attempt.placements]
    return Signs(
        at=now,
        heard=all(at is not None and now - at <= REPORTS_MISSED * report for at in spoken),
        steps=news,
        log_bytes=_log_bytes(platform, watched.attempt.id),
        phase=heard.phase or platform.printed.phase(watched.attempt.id),
        ranks=ranks,
        network_bytes_per_s=heard.flow(NETWORK, now) if alone else None,
        disk_bytes_per_s=heard.flow(DISK, now),
    )


def _log_bytes(platform: Platform, attempt: AttemptId) -> int:
    return sum(platform.logs.size(attempt, rank) for rank in platform.logs.ranks(attempt))


def _say(platform: Platform, watched: Watched, change: Stall | Moved) -> None:
    """Write the fact, and at a stall ask the agents to look."""
    attempt, at = watched.attempt, change.at
    if isinstance(change, Moved):
        watched.told = watched.explained = False
        with platform.database.write() as c:
            facts.append(c, Moving(at=at, by="server", job=attempt.job, attempt=attempt.id, since=change.since))
        return
    with platform.database.read() as c:
        if broken_since(c, attempt) is not None:  # its end is under way: what is silent then does not hang
            watched.watch.stall = None
            return
    nodes = {placement.node for placement in attempt.placements}
    platform.live.order(attempt.id, Look(f"stall-{int(at.timestamp() * 1000):015d}", "stall", at, nodes))
    log.info("stalled", attempt=attempt.id, since=str(change.since), threshold=str(change.threshold))
    if watched.told:
        return
    watched.told = True
    said = Stalled(
        at=at,
        by="server",
        job=attempt.job,
        attempt=attempt.id,
        since=change.since,
        threshold_s=change.threshold.total_seconds(),
        phase=change.phase,
        agreeing=change.agreeing,
    )
    with platform.database.write() as c:
        facts.append(c, said)


def _follow(platform: Platform, watched: Watched, now: datetime) -> None:
    """Once the evidence is here: say what the attempt waits for, and stop it where its policy says so."""
    look = platform.live.look(watched.attempt.id)
    if watched.explained or look is None or (look.waits_for and now - look.at < EVIDENCE_PATIENCE):
        return
    watched.explained = True
    hang = judge(look.scenes)
    explained = StallExplained(
        at=now,
        by="server",
        job=watched.job.id,
        attempt=watched.attempt.id,
        cause=hang.cause,
        rank=hang.rank,
        node=hang.node,
        by_evidence=hang.by,
        detail=hang.detail,
    )
    with platform.database.write() as c:
        facts.append(c, explained)
        if watched.job.spec.recovery.when_stalled is WhenStalled.RESTART:
            _stop(c, watched, now)
    platform.wake("observe")


def _stop(c: Connection, watched: Watched, now: datetime) -> None:
    """End an attempt that hangs, unless it has ended or is being stopped meanwhile; its job goes on by the verdict."""
    present = attempts.get(c, watched.attempt.id)
    if present is None or present.state != AttemptState.RUNNING:
        return
    grace = min(watched.job.spec.recovery.grace, LONGEST_GRACE)
    attempts.request_stop(c, present.id, STALLED, grace, now)
    attempts.move(c, present.id, AttemptState.STOPPING, at=now, stop_reason=STALLED)
    facts.append(c, StopRequested(at=now, by="server", job=present.job, reason=STALLED))


def _look_at_pace(platform: Platform, watched: Watched, now: datetime) -> None:
    """Every few minutes, and soon when steps take longer: who comes last to the collectives."""
    attempt, look = watched.attempt, platform.live.look(watched.attempt.id)
    if look is not None and look.kind == PACE and not look.waits_for:
        platform.live.done(attempt.id)
        _judge_pace(platform, watched, look, now)
    world = _world(watched)
    due = now >= watched.pace_at or (watched.watch.has_slowed and now >= watched.pace_at - PACE_EVERY + PACE_AGAIN)
    if world > 1 and watched.watch.rhythm.is_learnt and due:
        watched.pace_at = now + PACE_EVERY
        nodes = {placement.node for placement in attempt.placements}
        platform.live.order(attempt.id, Look(f"pace-{int(now.timestamp() * 1000):015d}", PACE, now, nodes))


def _world(watched: Watched) -> int:
    return watched.job.spec.request.nodes * watched.job.spec.request.ranks_per_node


def _judge_pace(platform: Platform, watched: Watched, look: Look, now: datetime) -> None:
    """Tell of a rank that keeps the others waiting, once."""
    seen = everyone(look.scenes)
    # Whoever did not answer may be the one that is slow: without it the others prove nothing.
    found = late(seen.told) if len(seen.told) == len(seen.ranks) == _world(watched) else None
    if found is None or watched.slow == found.rank:
        watched.slow = None if found is None else watched.slow
        return
    watched.slow = found.rank
    slow = RankSlow(
        at=now,
        by="server",
        job=watched.job.id,
        attempt=watched.attempt.id,
        rank=found.rank,
        node=seen.nodes.get(found.rank),
        late_s=round(found.seconds, 3),
        period_s=round(found.period_s, 3),
    )
    with platform.database.write() as c:
        facts.append(c, slow)
