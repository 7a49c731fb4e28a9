"""What agents call. A token opens only its own attempt, and expires when the attempt is over and delivered."""

import zlib
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId
from headway.server.api.asking import PlatformHere
from headway.server.operations.report import take
from headway.server.platform import Platform
from headway.server.secrets import digest
from headway.server.wire import Answer, LogAnswer, Report
from headway.store import attempts

router = APIRouter(prefix="/agent", tags=["agents"])
LOG_LIMIT = 2 << 20
REPORT_LIMIT = 4 << 20


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


@router.post("/{attempt}/nodes/{node}/logs/{rank}", max_body_size=LOG_LIMIT)
async def logs(
    request: Request, attempt: str, rank: int, platform: PlatformHere, authorization: Bearer = None
) -> LogAnswer:
    """Take bytes of one rank's output from an offset on."""
    raw = await request.body()
    return await run_in_threadpool(_append, platform, request, attempt, rank, raw, authorization)


def _append(
    platform: Platform, request: Request, attempt: str, rank: int, raw: bytes, authorization: str | None
) -> LogAnswer:
    known = check_token(platform, attempt, authorization)
    query = request.query_params
    data = _inflated(raw) if request.headers.get("content-encoding") == "deflate" else raw
    try:
        offset = int(query["offset"])
        first, last = (datetime.fromtimestamp(float(query[key]), UTC) for key in ("first", "last"))
    except (KeyError, ValueError, OverflowError):
        rule = "rule-number"
        raise PlatformError("invalid-field", field="offset", value=str(query)[:80], rule=rule) from None
    is_last = query.get("final") == "1"
    ack = platform.logs.append(known, rank, offset, data, first, last, final=is_last)
    if is_last:
        platform.wake("diagnose")
    return LogAnswer(received=ack.received, durable=ack.durable)


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
