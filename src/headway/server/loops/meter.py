"""Meter: post every interval that has closed to the ledger. Posting again is harmless: an entry's key is unique."""

import asyncio
from zoneinfo import ZoneInfo

from headway.domain.events import AttemptEnded, AttemptPlaced, AttemptWaited
from headway.metering.intervals import intervals
from headway.metering.ledger import post
from headway.server.platform import Platform
from headway.store import cursors, facts, ledger

CURSOR = "meter"
BATCH = 500
KINDS = {AttemptPlaced.kind, AttemptWaited.kind, AttemptEnded.kind}


async def meter(platform: Platform) -> None:
    """Post what closed since the last turn."""
    while await asyncio.to_thread(_post, platform):
        await asyncio.sleep(0)


def _post(platform: Platform) -> bool:
    """Post one batch; whether there may be more. The cursor moves in the transaction that posts."""
    zone = ZoneInfo(platform.settings.timezone)
    with platform.database.read() as c:
        ended = facts.since(c, cursors.get(c, CURSOR), kinds={AttemptEnded.kind}, limit=BATCH)
        if not ended:
            return False
        jobs = dict.fromkeys(recorded.fact.job for recorded in ended if isinstance(recorded.fact, AttemptEnded))
        known = [fact for job in jobs for fact in facts.all(c, job=job, kinds=KINDS)]
    with platform.database.write() as c:
        ledger.post(c, post(intervals(known), zone))
        cursors.set(c, CURSOR, ended[-1].seq)
    return len(ended) == BATCH
