"""Notify: hand what is to be told to its channels, many at once as one message; keep Alertmanager up to date.

A notice is marked as told after its channel took it, so that after a crash it may be told twice, but is never lost.
"""

import asyncio
from datetime import datetime, timedelta

import structlog

from headway.diagnosis.alerts.telling import Message, due, retry_at
from headway.domain.alert import Channel
from headway.domain.errors import Language, message
from headway.server import alertmanager, channels
from headway.server.platform import Platform
from headway.store import alerts, notices

log = structlog.get_logger("headway.notify")
PUSH_EVERY = timedelta(seconds=60)
LOOK_BACK = timedelta(days=7)


class Notify:
    """The loop's own memory: when Alertmanager was last told."""

    def __init__(self) -> None:
        self._pushed_at: datetime | None = None

    async def __call__(self, platform: Platform) -> None:
        for told, channel in await asyncio.to_thread(_due, platform):
            await asyncio.to_thread(_send, platform, told, channel)
        if platform.settings.alertmanager_url:
            await asyncio.to_thread(self._push, platform, platform.settings.alertmanager_url)

    def _push(self, platform: Platform, url: str) -> None:
        """Alertmanager forgets what it is not told again; an end is told once."""
        now = platform.clock.now()
        with platform.database.read() as c:
            known = {rule.name: rule for rule in alerts.rules(c)}
            some = alerts.to_push(c, now - LOOK_BACK)
        fresh = self._pushed_at is None or now - self._pushed_at >= PUSH_EVERY
        wanted = some if fresh else [record for record in some if record.ended_at is not None]
        audible = [r for r in wanted if r.rule in known and not known[r.rule].is_muted(now)]
        if not audible:
            return
        failure = alertmanager.push(url, audible, known, platform.url)
        if failure is not None:
            log.warning("alertmanager did not take the alerts", url=url, error=failure)
            return
        self._pushed_at = now if fresh else self._pushed_at
        with platform.database.write() as c:
            alerts.pushed(c, [record.id for record in audible], now)


def _due(platform: Platform) -> list[tuple[Message, Channel]]:
    with platform.database.read() as c:
        waiting = notices.waiting(c)
        if not waiting:
            return []
        known = notices.channels(c)
        messages = due(waiting, notices.told_at(c), platform.clock.now())
    return [(told, known[told.channel]) for told in messages if told.channel in known]


def _send(platform: Platform, told: Message, channel: Channel) -> None:
    language: Language = "zh" if channel.language == "zh" else "en"
    lines = list(told.lines)
    if told.more:
        lines.append(message("alert-told-more", {"count": told.more}, language))
    title = message("alert-told-title", {"count": len(told.notices)}, language)
    failure = channels.send(channel.url, title, "\n".join(lines))
    now = platform.clock.now()
    ids = [notice.id for notice in told.notices]
    with platform.database.write() as c:
        if failure is None:
            notices.told(c, channel.name, ids, now)
            return
        tries = max(notices.tries(c, id) for id in ids) + 1
        notices.failed(c, ids, retry_at(tries, now), failure)
    log.warning("channel did not take a message", channel=channel.name, notices=len(ids), error=failure)
