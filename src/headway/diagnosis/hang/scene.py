"""What the agents of a stalled attempt saw while it hung, as values named as in docs/protocol.md. Decides nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ProcessSeen:
    """A process of a rank: its state letter, the system call it waits in, and the file it waits on."""

    pid: int
    state: str
    command: str = ""
    parent: int = 0
    cpu_s: float = 0.0
    wchan: str | None = None
    call: str | None = None
    on: str | None = None


@dataclass(frozen=True, slots=True)
class StackSeen:
    """The threads of one process as `py-spy` or `faulthandler` print them."""

    pid: int
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective as a rank's flight recorder holds it; times in nanoseconds since the epoch by the rank's clock."""

    process_group: Any = None
    collective_seq_id: int | None = None
    p2p_seq_id: int | None = None
    is_p2p: bool | None = None
    profiling_name: str | None = None
    retired: bool | None = None
    time_created_ns: int | None = None
    sizes: str = ""

    @property
    def group(self) -> str:
        """The name of its process group."""
        named = self.process_group
        return str(named[0]) if isinstance(named, list | tuple) and named else str(named)


@dataclass(frozen=True, slots=True)
class Collectives:
    """A rank's flight recorder: how far each process group has come, and its newest collectives, oldest first."""

    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    newest: tuple[Collective, ...] = ()


@dataclass(frozen=True, slots=True)
class RankSeen:
    """One rank; `collectives` None: it did not answer, or has no recorder."""

    rank: int
    processes: tuple[ProcessSeen, ...] = ()
    stacks: tuple[StackSeen, ...] = ()
    collectives: Collectives | None = None


@dataclass(frozen=True, slots=True)
class LinkSeen:
    """A network interface that these ranks use; `changes`: how often it lost or found its carrier."""

    name: str
    state: str
    changes: int | None = None
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SocketSeen:
    """A rank's connection to a peer: bytes it has not acknowledged, and how often they were sent again in vain."""

    rank: int
    local: str
    remote: str
    unanswered_bytes: int = 0
    retransmits: int = 0


@dataclass(frozen=True, slots=True)
class HostSeen:
    """Whether the host of a rank's peer answers at all, as seen from where the rank is."""

    rank: int
    host: str
    answers: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """One node at one look."""

    node: str
    look: str
    at: float
    kind: str = "stall"
    ranks: tuple[RankSeen, ...] = ()
    links: tuple[LinkSeen, ...] = ()
    sockets: tuple[SocketSeen, ...] = ()
    hosts: tuple[HostSeen, ...] = ()
    disks: tuple[Mapping[str, Any], ...] = ()
    memory: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None
