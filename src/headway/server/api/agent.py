"""What agents call. A token opens only its own attempt, and expires when the attempt is over and delivered."""

import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Request
from starlette.concurrency import run_in_threadpool

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId
from headway.server.api.asking import PlatformHere
from headway.server.operations.agents.ranks import ranks_of
from headway.server.operations.agents.report import take
from headway.server.platform import Platform
from headway.server.secrets import digest
from headway.server.wire import Answer, LogAnswer, Report
from headway.store import attempts, jobs

router = APIRouter(prefix="/agent", tags=["agents"])
LOG_LIMIT = 2 << 20
REPORT_LIMIT = 4 << 20
SLACK = 64 << 20  # the lines in which an agent tells of what it dropped stand beyond its limit, for months
log = structlog.get_logger("headway.api")


def check_token(platform: Platform, attempt: str, authorization: str | None) -> AttemptId:
    """The attempt a token opens. Raises `not-logged-in`, `wrong-attempt` or `attempt-over`."""
    _, _, token = (authorization or "").partition(" ")
    with platform.database.read() as c:
        found = attempts.by_token(c, digest(token)) if token else None
    if found is None:
        raise PlatformError("not-logged-in")
    if found.id != attempt:
        raise PlatformError("wrong-attempt", attempt=attempt)
    if found.ended_at is not None and platform.clock.now() - found.ended_at > platform.settings.token_kept:
        raise PlatformError("attempt-over", attempt=attempt)
    return found.id


Bearer = Annotated[str | None, Header()]


@router.post("/{attempt}/nodes/{node}/report", max_body_size=REPORT_LIMIT)
def report(attempt: str, node: str, body: Report, platform: PlatformHere, authorization: Bearer = None) -> Answer:
    """Take one report of a node's agent."""
    return take(platform, check_token(platform, attempt, authorization), node, body)


def check_rank(platform: Platform, attempt: AttemptId, node: str, rank: int) -> None:
    """Raise `not-found` for a node that has no part in the attempt, `invalid-field` for a rank that is another's."""
    with platform.database.read() as c:
        found = attempts.get(c, attempt)
        job = jobs.get(c, found.job) if found else None
    mine = ranks_of(job, found).get(node) if job and found else None
    if mine is None:
        raise PlatformError("not-found", what="attempt", value=f"{attempt}/{node}")
    if rank not in mine:
        raise PlatformError("invalid-field", field="rank", value=rank, rule=f"{mine.start} … {mine.stop - 1}")


@dataclass(frozen=True, slots=True)
class Stream:
    """Whose output it is that a request brings."""

    attempt: AttemptId
    rank: int


def stream_of(attempt: str, node: str, rank: int, platform: PlatformHere, authorization: Bearer = None) -> Stream:
    """Found before the body is read. Raises what `check_token` and `check_rank` raise."""
    known = check_token(platform, attempt, authorization)
    check_rank(platform, known, node, rank)
    return Stream(known, rank)


@router.post("/{attempt}/nodes/{node}/logs/{rank}", max_body_size=LOG_LIMIT)
async def logs(request: Request, stream: Annotated[Stream, Depends(stream_of)], platform: PlatformHere) -> LogAnswer:
    """Take bytes of one rank's output from an offset on."""
    raw = await request.body()
    return await run_in_threadpool(_append, platform, request, stream, raw)


def _append(platform: Platform, request: Request, stream: Stream, raw: bytes) -> LogAnswer:
    query = request.query_params
    data = _inflated(raw) if request.headers.get("content-encoding") == "deflate" else raw
    try:
        offset = int(query["offset"])
        first, last = (datetime.fromtimestamp(float(query[key]), UTC) for key in ("first", "last"))
    except (KeyError, ValueError, OverflowError):
        rule = "rule-number"
        raise PlatformError("invalid-field", field="offset", value=str(query)[:80], rule=rule) from None
    is_last = query.get("final") == "1"
    kept = data[: max(0, platform.settings.log_max_bytes + SLACK - offset)]
    ack = platform.logs.append(stream.attempt, stream.rank, offset, kept, first, last, final=is_last)
    if is_last:
        platform.wake("diagnose")
    if len(kept) < len(data):
        return _overfull(stream, offset + len(data))
    return LogAnswer(received=ack.received, durable=ack.durable)


def _overfull(stream: Stream, end: int) -> LogAnswer:
    """Its agent keeps the limits, so this is none of ours: what is beyond them is let go, and nobody waits for it."""
    log.warning("log beyond every limit", attempt=stream.attempt, rank=stream.rank, end=end)
    return LogAnswer(received=end, durable=end)


def _inflated(raw: bytes) -> bytes:
    """At most the limit: a small body must not unfold into memory without end."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(raw, LOG_LIMIT)
    except zlib.error as problem:
        raise PlatformError("invalid-field", field="body", value="…", rule=f"deflate: {problem}") from None
    if unpacker.unconsumed_tail:
        raise PlatformError("body-too-large", bytes="?", limit=LOG_LIMIT)
    return data
