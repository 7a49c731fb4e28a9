"""Logs of an attempt's ranks: a window by byte offset, or followed as server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.lifecycle import AttemptState
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.jobs import find
from headway.store import attempts

router = APIRouter(tags=["logs"])
PIECE = 64 << 10
POLL_S = 0.5


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
    logs = asker.platform.logs
    size = logs.size(chosen.id, rank)
    start = max(0, size + offset) if offset < 0 else offset
    data = logs.read(chosen.id, rank, start, limit)
    headers = {"X-Offset": str(start), "X-Size": str(size), "X-Attempt": chosen.id}
    return Response(data, media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/jobs/{job}/logs/ranks")
def ranks(job: str, asker: AskerHere, attempt: int | None = None) -> dict[int, int]:
    """The ranks that wrote something, and how many bytes."""
    chosen = choose(asker, job, attempt)
    return {rank: asker.platform.logs.size(chosen.id, rank) for rank in asker.platform.logs.ranks(chosen.id)}


@router.get("/jobs/{job}/logs/stream", response_class=EventSourceResponse)
async def follow(
    job: str, asker: AskerHere, rank: int = 0, attempt: int | None = None, offset: int = 0
) -> AsyncIterator[ServerSentEvent]:
    """The output as it comes; ends when the attempt has ended and everything was sent."""
    chosen = await run_in_threadpool(choose, asker, job, attempt)
    while True:
        over = await run_in_threadpool(_is_over, asker, chosen)
        data = await run_in_threadpool(asker.platform.logs.read, chosen.id, rank, offset, PIECE)
        if data:
            offset += len(data)
            yield ServerSentEvent(data=data.decode("utf-8", "replace"), event="log", id=str(offset))
        elif over:
            yield ServerSentEvent(data="", event="end", id=str(offset))
            return
        else:
            await asyncio.sleep(POLL_S)


def choose(asker: Asker, job: str, number: int | None) -> Attempt:
    """An attempt of a job by number, by default the newest. Raises `not-found`."""
    with asker.platform.database.read() as c:
        tries = attempts.of_job(c, find(c, asker, job).id)
    fitting = [attempt for attempt in tries if number is None or attempt.number == number]
    if not fitting:
        near = ", ".join(str(attempt.number) for attempt in tries) or "—"
        raise PlatformError("not-found", what="attempt", value=f"{job}.{number or 'latest'}", near=near)
    return fitting[-1]


def _is_over(asker: Asker, attempt: Attempt) -> bool:
    with asker.platform.database.read() as c:
        present = attempts.get(c, attempt.id)
    return present is None or present.state == AttemptState.ENDED
