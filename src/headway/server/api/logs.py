"""Logs of an attempt's ranks: a window by byte offset, searched, or followed as server-sent events."""

import asyncio
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.jobs import find
from headway.server.api.listening import ListenerHere
from headway.server.operations.agents import last_words
from headway.server.operations.evidence.log_search import Found, Wanted, search
from headway.server.platform import Platform
from headway.store import attempts, jobs
from headway.store.logs import Arrival

router = APIRouter(tags=["logs"])
PIECE = 64 << 10
POLL_S = 0.5
DAMAGED = "\n[headway] {bytes} bytes of the stored log are damaged\n"


@router.get("/jobs/{job}/logs")
def window(
    job: str,
    asker: AskerHere,
    rank: int = 0,
    attempt: int | None = None,
    offset: int = 0,
    limit: Annotated[int, Query(ge=1, le=4 << 20)] = 1 << 20,
) -> Response:
    """Bytes of one rank's output; a negative offset counts from the end. `X-Offset` and `X-Size` say where they are."""
    chosen = choose(asker, job, attempt)
    check_rank(asker, chosen, rank)
    logs = asker.platform.logs
    size = logs.size(chosen.id, rank)
    start = start_of(offset, size)
    data = logs.read(chosen.id, rank, start, limit)
    headers = {"X-Offset": str(start), "X-Size": str(size), "X-Attempt": chosen.id}
    return Response(data, media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/jobs/{job}/logs/ranks")
def ranks(job: str, asker: AskerHere, attempt: int | None = None) -> dict[int, int]:
    """The ranks that wrote something, and how many bytes."""
    chosen = choose(asker, job, attempt)
    return {rank: asker.platform.logs.size(chosen.id, rank) for rank in asker.platform.logs.ranks(chosen.id)}


@router.get("/jobs/{job}/logs/arrivals")
def arrivals(
    job: str,
    asker: AskerHere,
    rank: int = 0,
    attempt: int | None = None,
    points: Annotated[int, Query(ge=1, le=5000)] = 600,
) -> list[Arrival]:
    """How one rank's log grew: at which moment it had how many bytes, by the times at which its agent took them."""
    chosen = choose(asker, job, attempt)
    check_rank(asker, chosen, rank)
    return asker.platform.logs.arrivals(chosen.id, rank, points)


@router.get("/jobs/{job}/logs/search")
def search_log(  # noqa: PLR0913
    job: str,
    q: str,
    asker: AskerHere,
    regex: bool = False,
    ignore_case: bool = False,
    rank: int = 0,
    attempt: int | None = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Found:
    """The lines of one rank's output that hold a text, or match a regular expression, from a byte offset on.

    At most two seconds and 256 MiB a call: `next` says from where to go on, null at the end of the log.
    """
    chosen = choose(asker, job, attempt)
    check_rank(asker, chosen, rank)
    return search(asker.platform.logs, chosen.id, rank, Wanted(q, regex, ignore_case), offset, limit)


@dataclass(slots=True)
class Following:
    """One rank's stream of an attempt, followed: how far it was sent, and when its log was last seen to grow."""

    attempt: Attempt
    rank: int
    offset: int
    size: int
    grew_at: datetime | None = None

    def look(self, platform: Platform) -> tuple[str, int, bool]:
        """The next text, the place after it, and whether that is the end. Damage is passed over, and told in place."""
        now, size = platform.clock.now(), platform.logs.size(self.attempt.id, self.rank)
        if size > self.size:
            self.size, self.grew_at = size, now
        over = self._is_over(platform, now)
        start, data = platform.logs.read_sound(self.attempt.id, self.rank, self.offset, PIECE)
        told = DAMAGED.format(bytes=start - self.offset) if start > self.offset else ""
        cut_off = len(data) < PIECE and (over or start + len(data) < size)
        text, taken = whole_characters(data, final=cut_off)
        return told + text, start + taken, over and len(data) < PIECE and start + taken >= size

    def _is_over(self, platform: Platform, now: datetime) -> bool:
        """The attempt has ended, and its last words are here or do not come."""
        with platform.database.read() as c:
            present = attempts.get(c, self.attempt.id)
        if present is None or present.ended_at is None:
            return present is None
        waited = now - max(present.ended_at, self.grew_at or present.ended_at)
        return waited > last_words.PATIENCE or last_words.are_here(platform, present.id, self.rank)


def following_of(
    job: str, listener: ListenerHere, rank: int = 0, attempt: int | None = None, offset: int = 0
) -> Following:
    """What a stream is of; found before the answer begins, so that errors are told."""
    chosen = choose(listener.asker, job, attempt)
    check_rank(listener.asker, chosen, rank)
    size = listener.platform.logs.size(chosen.id, rank)
    return Following(chosen, rank, start_of(listener.place(offset), size), size)


@router.get("/jobs/{job}/logs/stream", response_class=EventSourceResponse)
async def follow(
    listener: ListenerHere, following: Annotated[Following, Depends(following_of)]
) -> AsyncIterator[ServerSentEvent]:
    """The output as it comes; ends when the attempt has ended and everything was sent."""
    mine = following.attempt
    while await listener.may_hear(lambda asker: choose(asker, mine.job, mine.number)):
        text, offset, is_end = await run_in_threadpool(following.look, listener.platform)
        if offset > following.offset:
            following.offset = offset
            yield ServerSentEvent(data=text, event="log", id=str(offset))
        if is_end:
            yield ServerSentEvent(data="", event="end", id=str(offset))
            return
        if not text:
            await asyncio.sleep(POLL_S)


def start_of(offset: int, size: int) -> int:
    """The first byte that an offset means: a negative one counts from the end."""
    return max(0, size + offset) if offset < 0 else offset


def whole_characters(data: bytes, *, final: bool) -> tuple[str, int]:
    """The text of `data` and how many bytes it is of: a character that is not complete yet waits, unless at the end."""
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final=final)
    return text, len(data) - len(decoder.getstate()[0])


def choose(asker: Asker, job: str, number: int | None) -> Attempt:
    """An attempt of a job by number, by default the newest. Raises `not-found`."""
    with asker.platform.database.read() as c:
        tries = attempts.of_job(c, find(c, asker, job).id)
    fitting = [attempt for attempt in tries if number is None or attempt.number == number]
    if not fitting:
        near = ", ".join(str(attempt.number) for attempt in tries)
        raise PlatformError("not-found", what="attempt", value=f"{job}.{number or 'latest'}", near=near)
    return fitting[-1]


def check_rank(asker: Asker, attempt: Attempt, rank: int) -> None:
    """Raise `invalid-field` for a rank the job does not have; one that wrote nothing has an empty log."""
    with asker.platform.database.read() as c:
        job = jobs.get(c, attempt.job)
    ranks = job.spec.request.nodes * job.spec.request.ranks_per_node if job else 0
    if not 0 <= rank < ranks:
        raise PlatformError("invalid-field", field="rank", value=rank, rule=f"0 … {ranks - 1}")
