"""Facts about alerts: rules as people set them, and what fired."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRuleSet(Event):
    kind: ClassVar[str] = "alert-rule-set"
    rule: str
    watches: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRuleRemoved(Event):
    kind: ClassVar[str] = "alert-rule-removed"
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRuleMuted(Event):
    """`until` None: it is heard again."""

    kind: ClassVar[str] = "alert-rule-muted"
    rule: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFired(Event):
    """`since`: when its condition began to hold, where the window to look back at opens."""

    kind: ClassVar[str] = "alert-fired"
    alert: str
    rule: str
    subject: str
    project: str | None
    since: datetime
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEnded(Event):
    kind: ClassVar[str] = "alert-ended"
    alert: str
    rule: str
    subject: str
    project: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertAcknowledged(Event):
    kind: ClassVar[str] = "alert-acknowledged"
    alert: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSet(Event):
    kind: ClassVar[str] = "channel-set"
    channel: str
