"""Alerts as values: what a rule watches, what it found, and what is told to whom.

A rule is one sentence with blanks: what, above or below how much, for how long, where, and who is told.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

FACT = "fact:"
READING = "reading:"
GAUGES = ("queue-wait", "silence", "node-silence", "node-down", "idle-devices", "budget", "drill-age")
"""Seconds a job waits; seconds since a running job's last step; seconds since a node was seen; 1 for a node that is
down; devices of a pool that are up and free; the share of a branch's monthly budget that is spent; days since a
template that a project trains with was drilled."""


class Comparison(StrEnum):
    """On which side of the threshold a rule fires."""

    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a rule looks; None: everywhere."""

    project: str | None = None
    job: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What a value is about: its `kind` (job, node, pool, branch, site) and name, and the project it belongs to."""

    kind: str
    name: str
    project: str | None = None

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True)
class AlertRule:
    """`watches`: a gauge, `reading:NAME` of running jobs, or `fact:KIND`, which has no threshold.

    It fires once its condition has held for `lasting`; while it is muted it is kept but told to nobody.
    """

    name: str
    watches: str
    author: str
    created_at: datetime
    comparison: Comparison = Comparison.ABOVE
    threshold: float = 0.0
    lasting: timedelta = timedelta(0)
    scope: Scope = Scope()
    recipients: tuple[str, ...] = ()
    muted_until: datetime | None = None

    @property
    def fact(self) -> str | None:
        """The kind of fact it watches."""
        return self.watches.removeprefix(FACT) if self.watches.startswith(FACT) else None

    def is_muted(self, now: datetime) -> bool:
        return self.muted_until is not None and now < self.muted_until

    def holds(self, value: float) -> bool:
        """Whether a value is on the wrong side. One that is not a number is on neither."""
        return value > self.threshold if self.comparison is Comparison.ABOVE else value < self.threshold


@dataclass(frozen=True, slots=True)
class AlertRecord:
    """One time a rule's condition held for one subject: from `began` until `ended_at` (None: still).

    `fired_at` None: not for long enough yet. `worst`: the value furthest beyond the threshold.
    """

    id: str
    rule: str
    subject: Subject
    began: datetime
    fired_at: datetime | None = None
    ended_at: datetime | None = None
    value: float | None = None
    worst: float | None = None
    acknowledged_by: str | None = None
    acknowledged_at: datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to people, as an Apprise URL, which is a secret. `personal`: the user whose own it is."""

    name: str
    url: str
    language: str
    author: str
    created_at: datetime
    personal: bool = False
