"""Channels to people, who follows which job, and what is still to be told: kept until a channel has taken it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, delete, select, update

from headway.diagnosis.alerts.telling import Notice
from headway.domain.alert import Channel
from headway.domain.ids import JobId
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import Upsert

_channels, _subscriptions, _notices = schema.channels, schema.subscriptions, schema.notices
_CHANNEL = Shape(Channel, _channels)
_NOTICE = Shape(Notice, _notices)


@dataclass(frozen=True, slots=True)
class Subscription:
    """Somebody follows a job: its start, its stalls and its end are told through their channel."""

    user: str
    job: JobId
    channel: str
    at: datetime


_SUBSCRIPTION = Shape(Subscription, _subscriptions)
_PUT_CHANNEL = Upsert(_channels, change=lambda _new: {"told_at": _channels.c.told_at})
_ALL = _CHANNEL.select().order_by(_channels.c.name)
_DROP_CHANNEL = delete(_channels).where(_channels.c.name == bindparam("of"))
_PUT_SUBSCRIPTION = Upsert(_subscriptions)
_OF_JOB = _SUBSCRIPTION.select().where(_subscriptions.c.job == bindparam("job")).order_by(_subscriptions.c.user)
_UNSUBSCRIBE = delete(_subscriptions).where(
    _subscriptions.c.user == bindparam("who"), _subscriptions.c.job == bindparam("of")
)
_ADD = sql.insert(_notices)
_WAITING = _NOTICE.select().where(_notices.c.told_at.is_(None)).order_by(_notices.c.id)
_TOLD = update(_notices).where(_notices.c.id == bindparam("of")).values(told_at=bindparam("at"))
_FAILED = (
    update(_notices)
    .where(_notices.c.id == bindparam("of"))
    .values(tries=_notices.c.tries + 1, not_before=bindparam("after"), error=bindparam("why"))
)
_TRIES = select(_notices.c.tries).where(_notices.c.id == bindparam("of"))
_TOLD_AT = select(_channels.c.name, _channels.c.told_at).where(_channels.c.told_at.is_not(None))
_SPOKE = update(_channels).where(_channels.c.name == bindparam("of")).values(told_at=bindparam("at"))
_TROUBLES = (
    select(_notices.c.channel, sql.func.count(), sql.func.max(_notices.c.error))
    .where(_notices.c.told_at.is_(None), _notices.c.tries > 0)
    .group_by(_notices.c.channel)
)


def put_channel(c: Connection, channel: Channel) -> None:
    """Keep a channel, in place of an earlier one of its name."""
    _PUT_CHANNEL(c, _CHANNEL.row(channel, told_at=None))


def channels(c: Connection) -> dict[str, Channel]:
    """Every channel by name."""
    return {channel.name: channel for channel in _CHANNEL.all(c, _ALL)}


def drop_channel(c: Connection, name: str) -> None:
    """Take a channel away; what waits for it is never told, nobody follows anything through it any more."""
    c.execute(_DROP_CHANNEL, {"of": name})
    c.execute(delete(_notices).where(_notices.c.channel == name, _notices.c.told_at.is_(None)))
    c.execute(delete(_subscriptions).where(_subscriptions.c.channel == name))


def subscribe(c: Connection, subscription: Subscription) -> None:
    """Let somebody follow a job."""
    _PUT_SUBSCRIPTION(c, _SUBSCRIPTION.row(subscription))


def unsubscribe(c: Connection, user: str, job: JobId) -> None:
    """Let somebody follow it no more."""
    c.execute(_UNSUBSCRIBE, {"who": user, "of": job})


def followers(c: Connection, job: JobId) -> list[Subscription]:
    """Who follows a job."""
    return _SUBSCRIPTION.all(c, _OF_JOB, {"job": job})


def add(c: Connection, channel: str, text: str, at: datetime) -> None:
    """Keep something to be told."""
    c.execute(_ADD, {"channel": channel, "text": text, "made_at": at, "tries": 0})


def waiting(c: Connection) -> list[Notice]:
    """What no channel has taken yet, oldest first."""
    return _NOTICE.all(c, _WAITING)


def told(c: Connection, channel: str, ids: Sequence[int], at: datetime) -> None:
    """The channel has taken these."""
    c.execute(_TOLD, [{"of": id, "at": at} for id in ids])
    c.execute(_SPOKE, {"of": channel, "at": at})


def tries(c: Connection, id: int) -> int:
    """How often a notice was refused."""
    return c.execute(_TRIES, {"of": id}).scalar() or 0


def failed(c: Connection, ids: Sequence[int], after: datetime, why: str) -> None:
    """The channel did not take these; they are tried again."""
    c.execute(_FAILED, [{"of": id, "after": after, "why": why} for id in ids])


def told_at(c: Connection) -> dict[str, datetime]:
    """When each channel was last written to."""
    return {name: at for name, at in c.execute(_TOLD_AT)}


def troubles(c: Connection) -> dict[str, tuple[int, str]]:
    """How many notices each channel has refused so far, and why."""
    return {channel: (count, why) for channel, count, why in c.execute(_TROUBLES)}
