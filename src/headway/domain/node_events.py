"""Facts about nodes: closed and opened, what their daemons saw, tested again, and what tests are compared with."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.card import CardFound
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFaultSeen(Event):
    """A node's kernel or card tool told of a fault; `count` times at once. `device`: the card, where it is one's."""

    kind: ClassVar[str] = "node-fault-seen"
    node: str
    fault: str
    code: int | str | None
    device: int | None
    place: str | None
    pid: int | None
    process: str | None
    count: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInventoried(Event):
    """What a node is made of, told when it differs from what was told before."""

    kind: ClassVar[str] = "node-inventoried"
    node: str
    engine: str
    maker: str
    driver: str | None
    kernel: str
    cores: int
    cards: tuple[CardFound, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCredentialIssued(Event):
    kind: ClassVar[str] = "node-credential-issued"
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCredentialRevoked(Event):
    kind: ClassVar[str] = "node-credential-revoked"
    node: str
