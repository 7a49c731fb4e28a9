"""Read: follows what the ranks of running attempts print, and takes progress from it where the job itself reports none.

Reports of the in-job SDK win: an attempt that has made one is not moved by its output, only its phase is told. A server
that starts again begins with the newest part of each log. What a rank prints faster than it is read is left out.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

from headway.diagnosis.progress import Standing, Stream
from headway.domain.attempt import Attempt
from headway.domain.events import ProgressSeen
from headway.domain.ids import AttemptId
from headway.domain.job import Job, JobKind
from headway.domain.lifecycle import AttemptState
from headway.server.operations.agents.ranks import ranks_of
from headway.server.operations.jobs.advance import Progress, advance
from headway.server.platform import Platform
from headway.server.printed import Telling
from headway.server.wire import RankEvent
from headway.store import attempts, facts, jobs
from headway.store.readings import Reading

MOST_BYTES = 256 << 10
"""Bytes of one rank that are read in a turn; what a faster one printed before them is left out."""
BY = "server"


@dataclass(slots=True)
class Followed:
    """One rank's output, how far it was read, and how often it told a step."""

    stream: Stream = field(default_factory=Stream)
    offset: int = 0
    tellings: int = 0


class ReadOutput:
    """The loop's memory: a stream for the first and the last rank of each running attempt, until one tells a step."""

    def __init__(self) -> None:
        self._ranks: dict[AttemptId, dict[int, Followed]] = {}

    async def __call__(self, platform: Platform) -> None:
        await asyncio.to_thread(self._turn, platform)

    def _turn(self, platform: Platform) -> None:
        with platform.database.read() as c:
            live = [one for one in attempts.live(c) if one.state == AttemptState.RUNNING]
            found = [(job, one) for one in live if (job := jobs.get(c, one.job)) and job.spec.kind != JobKind.SERVICE]
        self._ranks = {one.id: self._ranks.get(one.id) or _ranks(job, one) for job, one in found}
        platform.printed.keep(self._ranks)
        for job, attempt in found:
            self._read(platform, job, attempt)

    def _read(self, platform: Platform, job: Job, attempt: Attempt) -> None:
        ranks = self._ranks[attempt.id]
        for rank, followed in list(ranks.items()):
            told = _read_on(platform, attempt.id, rank, followed)
            if told is None:
                continue
            self._ranks[attempt.id] = {rank: followed}
            followed.tellings += 1
            _tell(platform, job, attempt, rank, told, followed.tellings)
            break
        best = max(self._ranks[attempt.id].values(), key=lambda one: one.stream.reader is not None)
        if any(one.offset for one in ranks.values()):
            stream = best.stream
            platform.printed.read(attempt.id, Telling(stream.reader, stream.phase, stream.left_s))


def _ranks(job: Job, attempt: Attempt) -> dict[int, Followed]:
    """Most frameworks print from their first rank, Megatron-LM from its last."""
    every = [rank for ranks in ranks_of(job, attempt).values() for rank in ranks]
    return {rank: Followed() for rank in sorted({every[0], every[-1]})} if every else {}


def _read_on(platform: Platform, attempt: AttemptId, rank: int, followed: Followed) -> Standing | None:
    size = platform.logs.size(attempt, rank)
    if size <= followed.offset:
        return None
    if size - followed.offset > MOST_BYTES:
        followed.offset = size - MOST_BYTES
        followed.stream.skip()
    start, data = platform.logs.read_sound(attempt, rank, followed.offset, MOST_BYTES)
    if start > followed.offset:
        followed.stream.skip()
    followed.offset = start + len(data)
    return followed.stream.feed(data)


def _tell(platform: Platform, job: Job, attempt: Attempt, rank: int, told: Standing, tellings: int) -> None:
    """Move the attempt, unless it reports by itself. For the watch over stalls one telling is one step: a program may
    print every hundredth step only, and its silence is measured by how often it prints."""
    if platform.printed.is_own(attempt.id):
        return
    now = platform.clock.now()
    with platform.database.write() as c:
        last = facts.last(c, job.id, ProgressSeen)
        if last is not None and last.attempt == attempt.id and last.by != BY:
            platform.printed.reports_itself(attempt.id)
            return
        present = attempts.get(c, attempt.id)
        if present is None or present.state != AttemptState.RUNNING:
            return
        advance(platform, c, present, BY, Progress(now, told.step, told.total, told.loss, [(now, told.step)]))
    platform.live.event(attempt.id, rank, RankEvent(kind="progress", t=now, step=tellings))
    platform.readings.add(_readings(job, attempt, rank, told, now))


def _readings(job: Job, attempt: Attempt, rank: int, told: Standing, now: datetime) -> list[Reading]:
    node = next(node for node, ranks in ranks_of(job, attempt).items() if rank in ranks)
    values = {"step": float(told.step), **({"loss": told.loss} if told.loss is not None else {})}
    return [Reading(attempt.id, node, rank, None, name, now, value) for name, value in values.items()]
