"""Facts about nodes: how they may be used, what their daemons tell, and the daemons' credentials."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.card import CardFound
from headway.domain.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChanged(Event):
    kind: ClassVar[str] = "node-changed"
    node: str
    state: str
    reason: str | None


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
