"""Expire: end the grants whose time has come, and warn before it; tell of budgets that were reached."""

import asyncio
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from headway.domain.quota import QuotaTree
from headway.metering.months import month_of
from headway.server.operations.queue import budgets, granting
from headway.server.platform import Platform
from headway.store import grants, quota_versions, snapshot, usage


async def expire(platform: Platform) -> None:
    """Whatever has come due."""
    if await asyncio.to_thread(_expire, platform):
        platform.wake("schedule")


def _expire(platform: Platform) -> bool:
    now = platform.clock.now()
    soon = now + platform.settings.grant_warning
    with platform.database.read() as c:
        due = any(g.ends <= now or (g.warned_at is None and g.ends <= soon) for g in grants.approved(c))
        tree = quota_versions.tree(c, now)
    if not due and not _has_budgets(tree):
        return False
    with platform.database.write() as c:
        granting.warn(c, soon, now)
        _warn_of_budgets(platform, c, tree, now)
        return granting.expire(c, now) > 0


def _has_budgets(tree: QuotaTree) -> bool:
    entries = (entry.budget for branch in tree.branches.values() for entry in branch.entries.values())
    return any(budget.soft is not None or budget.hard is not None for budget in entries)


def _warn_of_budgets(platform: Platform, c: Connection, tree: QuotaTree, now: datetime) -> None:
    if _has_budgets(tree):
        zone = ZoneInfo(platform.settings.timezone)
        month = month_of(now, zone)
        span = usage.Month(str(month), month.start(zone), now)
        budgets.warn(c, tree, usage.spent(c, tree, snapshot.running(c, now), span), str(month), now)
