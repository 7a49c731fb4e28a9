"""Alert: hold every rule against what was recorded since the last turn, and against what is measured now."""

import asyncio

from headway.server.operations.alerts.alert_turns import turn_facts, turn_gauges
from headway.server.operations.alerts.gauges import measure
from headway.server.platform import Platform
from headway.store import alerts, cursors, facts

CURSOR = "alert"
BATCH = 500


async def alert(platform: Platform) -> None:
    """New facts first, then values. The cursor moves in the transaction that keeps the records: none is lost or kept
    twice."""
    changed = 0
    while (found := await asyncio.to_thread(_facts, platform)) is not None:
        changed += found
    changed += await asyncio.to_thread(_gauges, platform)
    if changed:
        platform.wake("notify")


def _facts(platform: Platform) -> int | None:
    """One batch; None: there was nothing new."""
    with platform.database.read() as c:
        new = facts.since(c, cursors.get(c, CURSOR), limit=BATCH)
    if not new:
        return None
    with platform.database.write() as c:
        changed = turn_facts(c, [recorded.fact for recorded in new])
        cursors.set(c, CURSOR, new[-1].seq)
    return changed


def _gauges(platform: Platform) -> int:
    now = platform.clock.now()
    with platform.database.read() as c:
        rules = [rule for rule in alerts.rules(c) if rule.fact is None]
        if not rules and not alerts.still_open(c):
            return 0
        measured = measure(platform, c, rules, now)
    with platform.database.write() as c:
        return turn_gauges(c, measured, now)
