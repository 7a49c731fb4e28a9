"""Facts about nodes: closed and opened, tested again, and what such tests are compared with."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChanged(Event):
    """`until`: when a cordon is over by itself; `needs_retest`: only a passed retest ends it."""

    kind: ClassVar[str] = "node-changed"
    node: str
    state: str
    reason: str | None
    until: datetime | None = None
    needs_retest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestRequested(Event):
    kind: ClassVar[str] = "retest-requested"
    retest: str
    job: JobId
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestEnded(Event):
    """`outcome`: passed, failed or inconclusive; `low`: speeds below the reference; `wrong`: failed checks."""

    kind: ClassVar[str] = "retest-ended"
    retest: str
    job: JobId
    nodes: tuple[str, ...]
    outcome: str
    low: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSet(Event):
    """What later retests of this shape are compared with: speeds by name."""

    kind: ClassVar[str] = "reference-set"
    retest: str
    shape: str
    speeds: dict[str, float]
