"""Alert rules as people set them, mute them and take them away; and records that somebody has seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.alert import FACT, GAUGES, READING, AlertRecord, AlertRule, Comparison, Scope
from headway.domain.alert_events import AlertAcknowledged, AlertRuleMuted, AlertRuleRemoved, AlertRuleSet
from headway.domain.errors import PlatformError
from headway.domain.events import KINDS
from headway.domain.ids import JobId, check_name
from headway.server.operations.alerts.alert_turns import OWN, end_open
from headway.server.operations.people.directory import Change, require_project
from headway.store import alerts, facts, jobs, nodes, notices


@dataclass(frozen=True, slots=True)
class RuleWish:
    """What somebody writes. Exactly one of `above` and `below`, unless it watches facts."""

    name: str
    watches: str
    above: float | None = None
    below: float | None = None
    lasting: timedelta = timedelta(0)
    scope: Scope = field(default_factory=Scope)
    recipients: Sequence[str] = ()


def make_rule(c: Connection, change: Change, wish: RuleWish) -> AlertRule:
    """The rule that a wish asks for. Raises errors that name the field, the value and what may stand there."""
    check_name("name", wish.name)
    _check_watched(wish)
    _check_scope(c, wish.scope)
    known = notices.channels(c)
    for recipient in wish.recipients:
        if recipient not in known:
            raise PlatformError("not-found", what="channel", value=recipient, near=", ".join(known))
    comparison = Comparison.BELOW if wish.below is not None else Comparison.ABOVE
    threshold = wish.below if wish.below is not None else wish.above
    return AlertRule(
        name=wish.name,
        watches=wish.watches,
        author=change.by,
        created_at=change.at,
        comparison=comparison,
        threshold=threshold or 0.0,
        lasting=wish.lasting,
        scope=wish.scope,
        recipients=tuple(dict.fromkeys(wish.recipients)),
    )


def set_rule(c: Connection, change: Change, wish: RuleWish) -> AlertRule:
    """Keep a rule, in place of an earlier one of its name; what that one had open ends."""
    rule = make_rule(c, change, wish)
    before = alerts.rule(c, rule.name)
    if before is not None:
        end_open(c, rule.name, change.at)
        rule = replace(rule, muted_until=before.muted_until)
    alerts.put_rule(c, rule)
    facts.append(c, AlertRuleSet(at=change.at, by=change.by, rule=rule.name, watches=rule.watches))
    return rule


def remove_rule(c: Connection, change: Change, name: str) -> None:
    """Take a rule away. Raises `not-found`."""
    find_rule(c, name)
    end_open(c, name, change.at)
    alerts.drop_rule(c, name)
    facts.append(c, AlertRuleRemoved(at=change.at, by=change.by, rule=name))


def mute(c: Connection, change: Change, name: str, until: datetime | None) -> AlertRule:
    """Tell nobody of what a rule fires until a moment; None: tell again. Raises `not-found`."""
    rule = replace(find_rule(c, name), muted_until=until)
    alerts.put_rule(c, rule)
    facts.append(c, AlertRuleMuted(at=change.at, by=change.by, rule=name, until=until))
    return rule


def acknowledge(c: Connection, change: Change, id: str, note: str) -> AlertRecord:
    """Say that one has seen it: the first to say so stands. Raises `not-found`."""
    record = alerts.get(c, id)
    if record is None or record.fired_at is None:
        raise PlatformError("not-found", what="alert", value=id, near="headway alert ls")
    if alerts.acknowledge(c, id, change.by, change.at, note):
        facts.append(c, AlertAcknowledged(at=change.at, by=change.by, alert=id, note=note))
    return alerts.get(c, id) or record


def find_rule(c: Connection, name: str) -> AlertRule:
    """The rule of this name. Raises `not-found`."""
    rule = alerts.rule(c, name)
    if rule is None:
        known = ", ".join(rule.name for rule in alerts.rules(c))
        raise PlatformError("not-found", what="alert rule", value=name, near=known)
    return rule


def _check_watched(wish: RuleWish) -> None:
    kind = wish.watches.removeprefix(FACT)
    if wish.watches.startswith(FACT):
        if kind not in KINDS or kind in OWN:
            _refuse("watches", wish.watches, "rule-known-fact")
        if wish.above is not None or wish.below is not None:
            _refuse("above" if wish.above is not None else "below", wish.above or wish.below, "rule-fact-no-threshold")
        if wish.lasting:
            _refuse("for_s", wish.lasting.total_seconds(), "rule-fact-no-threshold")
        return
    if wish.watches not in GAUGES and not (wish.watches.startswith(READING) and wish.watches != READING):
        _refuse("watches", wish.watches, ", ".join((*GAUGES, f"{READING}NAME", f"{FACT}KIND")))
    if (wish.above is None) == (wish.below is None):
        _refuse("above", wish.above, "rule-one-threshold")


def _check_scope(c: Connection, scope: Scope) -> None:
    if scope.project is not None:
        require_project(c, scope.project)
    if scope.job is not None and jobs.get(c, JobId(scope.job)) is None:
        raise PlatformError("not-found", what="job", value=scope.job)
    names = [node.name for node in nodes.all(c)]
    if scope.node is not None and scope.node not in names:
        raise PlatformError("not-found", what="node", value=scope.node, near=", ".join(names))


def _refuse(field: str, value: object, rule: str) -> None:
    raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule=rule)
