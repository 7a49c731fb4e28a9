"""Begin a broken job again at once on the devices it had, without the queue: they were held for it since it broke, and
its new attempt has had them, and is billed for them, from that moment on."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.job import Job
from headway.engines.protocol import Capability
from headway.scheduler.plan import Start
from headway.scheduler.staying import Ground, Obstacle, obstacle
from headway.server.platform import Platform
from headway.store import holds, nodes, windows
from headway.store.apply import place


def obstacle_to(
    platform: Platform, c: Connection, job: Job, attempt: Attempt, avoids: Collection[str], now: datetime
) -> Obstacle | None:
    """What keeps the job from beginning again where this attempt was; None: nothing."""
    engine = platform.engines.get(attempt.engine)
    ground = Ground(
        now=now,
        keeps=engine is not None and Capability.KEEPS in engine.can,
        hold=next((hold for hold in holds.all(c, now) if hold.job == job.id), None),
        nodes={node.name: node for node in nodes.all(c)},
        windows=[window.content for window in windows.ahead(c, now)],
        avoids=(*job.avoids, *avoids),
    )
    return obstacle(job, attempt, ground)


def stay(platform: Platform, c: Connection, job: Job, attempt: Attempt, now: datetime) -> Attempt:
    """Place the next attempt exactly where this one was."""
    start = Start(job.id, attempt.engine, attempt.device_type, attempt.placements, borrowed=attempt.borrowed)
    return place(c, start, now, platform.tokens.digest_of, since=attempt.ended_at)
