"""Alert records as the world turns: rules held against values and facts, what fired, and what is to be told to whom."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.alerts.judge import Begun, Gauge, Judged, Moved, Seen, judge_facts, judge_gauges
from headway.domain.alert import AlertRecord, AlertRule, Channel, Subject
from headway.domain.alert_events import AlertEnded, AlertFired
from headway.domain.errors import Language, Param, message
from headway.domain.events import Fact
from headway.domain.ids import JobId
from headway.domain.words import watched
from headway.server.operations.alerts.gauges import subject_of
from headway.server.secrets import make_id
from headway.store import alerts, facts, jobs, notices

FOLLOWED = {"attempt-started": "follow-started", "stalled": "follow-stalled", "job-ended": "follow-ended"}
OWN = ("alert-rule-set", "alert-rule-removed", "alert-rule-muted", "alert-fired", "alert-ended", "alert-acknowledged")
"""Facts about alerts, which no alert watches."""


def turn_gauges(c: Connection, gauges: Sequence[Gauge], now: datetime) -> int:
    """Hold every rule against the values of now; how many records changed."""
    return _carry_out(c, judge_gauges(alerts.rules(c), alerts.still_open(c), gauges, now))


def turn_facts(c: Connection, new: Sequence[Fact]) -> int:
    """Hold every rule against new facts, and tell those who follow their jobs; how many records changed."""
    told = [one for fact in new if (one := seen(c, fact)) is not None]
    for fact in new:
        _tell_followers(c, fact)
    return _carry_out(c, judge_facts(alerts.rules(c), alerts.still_open(c), told))


def _carry_out(c: Connection, judged: Judged) -> int:
    for begun in judged.begun:
        _begin(c, begun)
    for moved in judged.moved:
        _move(c, moved)
    return len(judged.begun) + len(judged.moved)


def _begin(c: Connection, begun: Begun) -> None:
    record = AlertRecord(
        id=make_id("al"),
        rule=begun.rule.name,
        subject=begun.subject,
        began=begun.at,
        fired_at=begun.at if begun.fired else None,
        ended_at=begun.at if begun.over else None,
        value=begun.value,
        worst=begun.value,
    )
    alerts.insert(c, record)
    if begun.fired:
        _say_fired(c, begun.rule, record, begun.at)


def _move(c: Connection, moved: Moved) -> None:
    record = moved.record
    if moved.over and record.fired_at is None:
        alerts.forget(c, record.id)
        return
    fired_at = moved.at if moved.fires else record.fired_at
    ended_at = moved.at if moved.over else None
    after = replace(record, fired_at=fired_at, ended_at=ended_at, value=moved.value, worst=moved.worst)
    alerts.move(c, after)
    rule = alerts.rule(c, record.rule)
    if rule is not None and moved.fires:
        _say_fired(c, rule, after, moved.at)
    if rule is not None and moved.over:
        _say_ended(c, rule, after, moved.at)


def _say_fired(c: Connection, rule: AlertRule, record: AlertRecord, at: datetime) -> None:
    said = AlertFired(
        at=at,
        by="server",
        alert=record.id,
        rule=rule.name,
        subject=record.subject.key,
        project=record.subject.project,
        since=record.began,
        value=record.value,
    )
    facts.append(c, said)
    _tell(c, rule, "alert-told-fired", record, at)


def _say_ended(c: Connection, rule: AlertRule, record: AlertRecord, at: datetime) -> None:
    subject = record.subject
    ended = AlertEnded(
        at=at, by="server", alert=record.id, rule=rule.name, subject=subject.key, project=subject.project
    )
    facts.append(c, ended)
    _tell(c, rule, "alert-told-ended", record, at)


def _tell(c: Connection, rule: AlertRule, code: str, record: AlertRecord, at: datetime) -> None:
    if rule.is_muted(at):
        return
    known = notices.channels(c)
    for name in rule.recipients:
        if name in known:
            language = _language(known[name])
            words: dict[str, Param] = {
                "rule": rule.name,
                "watches": watched(rule.watches, language),
                "value": None if record.value is None else f"{record.value:.6g}",
                "kind": record.subject.kind,
                "name": record.subject.name,
                "since": record.began.isoformat(timespec="seconds"),
            }
            notices.add(c, name, message(code, words, language), at)


def _tell_followers(c: Connection, fact: Fact) -> None:
    code, job = FOLLOWED.get(fact.kind), getattr(fact, "job", None)
    followers = notices.followers(c, job) if code is not None and job is not None else []
    if code is None or job is None or not followers:
        return
    known, found = notices.channels(c), jobs.get(c, job)
    words = {"job": job, "name": found.spec.name if found else job, "at": fact.at.isoformat(timespec="seconds")}
    state = {"state": str(getattr(fact, "state", "")), "reason": str(getattr(fact, "reason", None) or "")}
    for follower in followers:
        if follower.channel in known:
            text = message(code, {**words, **state}, _language(known[follower.channel])).rstrip()
            notices.add(c, follower.channel, text, fact.at)


def seen(c: Connection, fact: Fact) -> Seen | None:
    """A fact as rules look at it: about its job, else its node, else the site. Headway's own alerts are nobody's."""
    if fact.kind in OWN:
        return None
    job_id: JobId | None = getattr(fact, "job", None)
    node: str | None = getattr(fact, "node", None)
    job = None if job_id is None else jobs.get(c, job_id)
    if job is not None:
        subject = subject_of(job)
    elif node is not None:
        subject = Subject("node", node)
    else:
        subject = Subject("site", "site", getattr(fact, "project", None))
    return Seen(fact.kind, subject, fact.at, node)


def end_open(c: Connection, rule: str, at: datetime) -> None:
    """Whatever a rule has open is over, because the rule is."""
    for record in alerts.still_open(c):
        if record.rule == rule:
            _move(c, Moved(record, at, record.value, record.worst, over=True))


def _language(channel: Channel) -> Language:
    return "zh" if channel.language == "zh" else "en"
