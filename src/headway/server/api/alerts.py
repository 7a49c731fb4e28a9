"""Alerts: rules, what fired, who has seen it; channels to people, and following one's own jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Response

from headway.diagnosis.alerts.rehearse import messages
from headway.domain.alert import AlertRecord, AlertRule, Channel, Scope
from headway.domain.alert_events import ChannelSet
from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.server import channels
from headway.server.access import Role, Verb
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.bodies import Acknowledgement, Following, Muting, NewAlertRule, NewChannel
from headway.server.api.jobs import find
from headway.server.api.paging import PageHere, newest
from headway.server.operations.alerts import alert_rules
from headway.server.operations.alerts.alert_rules import RuleWish
from headway.server.operations.alerts.rehearse_alert import would_have_fired
from headway.store import alerts, facts, notices
from headway.store.notices import Subscription

router = APIRouter(tags=["alerts"])
Days = Annotated[int, Query(ge=1, le=365)]
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule, how often it would have fired in the last seven days, and in how many messages each of its recipients
    would have been told; None where no history is kept."""

    rule: AlertRule
    fired_last_week: int | None
    messages_last_week: int | None


@dataclass(frozen=True, slots=True)
class AlertView:
    """A record, with what its rule watches; the window to look back at is from `began` to `ended_at`."""

    alert: AlertRecord
    watches: str | None
    muted: bool


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel without its secrets; `waiting`: notices it has refused so far, and `error` why."""

    name: str
    kind: str
    language: str
    author: str
    personal: bool
    waiting: int
    error: str | None


@router.get("/alert-rules")
def list_rules(asker: AskerHere, page: PageHere) -> list[AlertRule]:
    """Every rule by name."""
    asker.check(Verb.READ, "alert")
    with asker.platform.database.read() as c:
        return page.of(alerts.rules(c), lambda rule: (rule.name,))


@router.put("/alert-rules/{name}")
def set_rule(name: str, body: NewAlertRule, asker: AskerHere) -> RuleView:
    """Set a rule, and say how often it would have fired last week."""
    asker.check(Verb.CHANGE, "alert")
    change = asker.change()
    with asker.platform.database.write() as c:
        rule = alert_rules.set_rule(c, change, _wish(name, body))
    asker.platform.wake("alert")
    return _rehearsed(asker, rule)


@router.post("/alert-rules/rehearsal")
def rehearse_rule(body: NewAlertRule, asker: AskerHere, name: str = "rehearsal") -> RuleView:
    """How often a rule would have fired last week, without setting it."""
    asker.check(Verb.READ, "alert")
    with asker.platform.database.read() as c:
        rule = alert_rules.make_rule(c, asker.change(), _wish(name, body))
    return _rehearsed(asker, rule)


@router.delete("/alert-rules/{name}", status_code=204)
def remove_rule(name: str, asker: AskerHere) -> Response:
    """Take a rule away; what it fired stays on record."""
    asker.check(Verb.CHANGE, "alert")
    with asker.platform.database.write() as c:
        alert_rules.remove_rule(c, asker.change(), name)
    return Response(status_code=204)


@router.post("/alert-rules/{name}/mute")
def mute_rule(name: str, body: Muting, asker: AskerHere) -> AlertRule:
    """Tell nobody of it until a moment."""
    asker.check(Verb.CHANGE, "alert")
    with asker.platform.database.write() as c:
        return alert_rules.mute(c, asker.change(), name, body.until)


@router.get("/alerts")
def list_alerts(
    asker: AskerHere, page: PageHere, days: Days = 7, open: bool = False, job: str | None = None
) -> list[AlertView]:
    """What fired, newest first, of the projects one may read; `open`: only what still stands."""
    asker.check(Verb.READ, "alert")
    now = asker.platform.clock.now()
    with asker.platform.database.read() as c:
        known = {rule.name: rule for rule in alerts.rules(c)}
        found = alerts.fired(c, now - timedelta(days=days))
    kept = [r for r in found if _may_see(asker, r) and not (open and r.ended_at) and job in (None, r.subject.name)]
    told = page.of(kept, lambda record: newest(record.began, record.id))
    return [_view(record, known.get(record.rule), now) for record in told]


@router.post("/alerts/{alert}/acknowledge")
def acknowledge(alert: str, body: Acknowledgement, asker: AskerHere) -> AlertRecord:
    """Say that one has seen it."""
    asker.check(Verb.STOP, "alert")
    with asker.platform.database.write() as c:
        record = alerts.get(c, alert)
        if record is not None and not _may_see(asker, record):
            raise PlatformError("not-found", what="alert", value=alert, near="headway alert ls")
        return alert_rules.acknowledge(c, asker.change(), alert, body.note)


@router.get("/channels")
def list_channels(asker: AskerHere, page: PageHere) -> list[ChannelView]:
    """Shared channels and one's own, without their secrets."""
    asker.check(Verb.READ, "alert")
    with asker.platform.database.read() as c:
        known, troubles = notices.channels(c), notices.troubles(c)
    mine = [one for one in known.values() if not one.personal or one.author == asker.name]
    return [_channel(one, troubles) for one in page.of(mine, lambda one: (one.name,))]


@router.put("/channels/{name}")
def set_channel(name: str, body: NewChannel, asker: AskerHere) -> ChannelView:
    """Set a way to people; a shared one takes an operator, one's own takes nobody else."""
    if not body.personal:
        asker.check(Verb.CHANGE, "alert")
    check_name("name", name)
    channels.check(body.url)
    change = asker.change()
    channel = Channel(name, body.url, body.language, asker.name, change.at, body.personal)
    with asker.platform.database.write() as c:
        _check_owner(asker, notices.channels(c).get(name))
        notices.put_channel(c, channel)
        facts.append(c, ChannelSet(at=change.at, by=change.by, channel=name))
    return _channel(channel, {})


@router.post("/channels/{name}/test")
def test_channel(name: str, asker: AskerHere) -> ChannelView:
    """Send a line through it at once. Raises `channel-failed` with the channel's own words."""
    with asker.platform.database.read() as c:
        channel = notices.channels(c).get(name)
    _check_owner(asker, channel)
    if channel is None:
        raise PlatformError("not-found", what="channel", value=name)
    failure = channels.send(channel.url, "Headway", f"Headway: {asker.name}")
    if failure is not None:
        raise PlatformError("channel-failed", channel=name, detail=failure)
    return _channel(channel, {})


@router.delete("/channels/{name}", status_code=204)
def remove_channel(name: str, asker: AskerHere) -> Response:
    """Take a channel away: what waits for it is never told, and who followed jobs through it does so no more."""
    with asker.platform.database.write() as c:
        channel = notices.channels(c).get(name)
        _check_owner(asker, channel)
        if channel is None:
            raise PlatformError("not-found", what="channel", value=name)
        notices.drop_channel(c, name)
    return Response(status_code=204)


@router.get("/jobs/{job}/following", tags=["jobs"])
def show_following(job: str, asker: AskerHere) -> Subscription | None:
    """Through which channel one follows a job; null: one does not."""
    with asker.platform.database.read() as c:
        found = notices.followers(c, find(c, asker, job).id)
    return next((one for one in found if one.user == asker.name), None)


@router.put("/jobs/{job}/following", tags=["jobs"])
def follow(job: str, body: Following, asker: AskerHere) -> Subscription:
    """Be told through a channel when a job starts, stalls and ends."""
    with asker.platform.database.write() as c:
        found = find(c, asker, job)
        channel = notices.channels(c).get(body.channel)
        if channel is None or (channel.personal and channel.author != asker.name):
            raise PlatformError("not-found", what="channel", value=body.channel)
        made = Subscription(asker.name, found.id, channel.name, asker.platform.clock.now())
        notices.subscribe(c, made)
    return made


@router.delete("/jobs/{job}/following", status_code=204, tags=["jobs"])
def unfollow(job: str, asker: AskerHere) -> Response:
    """Be told no more."""
    with asker.platform.database.write() as c:
        found = find(c, asker, job)
        notices.unsubscribe(c, asker.name, found.id)
    return Response(status_code=204)


def _wish(name: str, body: NewAlertRule) -> RuleWish:
    return RuleWish(
        name=name,
        watches=body.watches,
        above=body.above,
        below=body.below,
        lasting=timedelta(seconds=body.for_s),
        scope=Scope(body.project, body.job, body.node),
        recipients=body.recipients,
    )


def _rehearsed(asker: Asker, rule: AlertRule) -> RuleView:
    platform = asker.platform
    with platform.database.read() as c:
        times = would_have_fired(platform, c, rule, platform.clock.now(), WEEK)
    return RuleView(rule, None, None) if times is None else RuleView(rule, len(times), messages(times))


def _may_see(asker: Asker, record: AlertRecord) -> bool:
    """What concerns no project concerns everybody."""
    return asker.projects is None or record.subject.project is None or record.subject.project in asker.projects


def _view(record: AlertRecord, rule: AlertRule | None, now: datetime) -> AlertView:
    return AlertView(record, rule.watches if rule else None, rule is not None and rule.is_muted(now))


def _channel(channel: Channel, troubles: dict[str, tuple[int, str]]) -> ChannelView:
    waiting, error = troubles.get(channel.name, (0, None))
    kind = channels.shown(channel.url)
    return ChannelView(channel.name, kind, channel.language, channel.author, channel.personal, waiting, error)


def _check_owner(asker: Asker, channel: Channel | None) -> None:
    """A shared channel is the operators'; a personal one is its owner's, and an administrator's to remove."""
    roles: Sequence[Role] = [role for role, project in asker.held if project is None]
    if channel is None or Role.ADMIN in roles:
        return
    if not channel.personal:
        asker.check(Verb.CHANGE, "alert")
    elif channel.author != asker.name:
        raise PlatformError("not-found", what="channel", value=channel.name)
