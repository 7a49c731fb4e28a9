"""Where attempts run: five verbs, and the values they take and give.

Every verb is quick, idempotent and safe to repeat after a crash. **Unknown is not dead**: what cannot be seen is
answered as `UNKNOWN`, and only the server, with its time-outs, may turn that into lost. An engine never decides which
job runs.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Launcher
from headway.domain.resources import Node


class Capability(StrEnum):
    """What only some engines can do, each with a small protocol of its own."""

    CORDONS = "cordons"
    OCCUPANCY = "occupancy"
    PREFLIGHT = "preflight"
    NOTICES = "notices"
    NUDGES = "nudges"


@dataclass(frozen=True, slots=True)
class Inventory:
    """The nodes an engine has, and when it looked."""

    nodes: tuple[Node, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class UnixUser:
    """The account ranks run under."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Ceilings on one rank's output."""

    bytes_per_s: int = 1 << 20
    burst_bytes: int = 8 << 20
    max_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """One node's part: its devices and the global ranks that run there."""

    node: str
    devices: tuple[int, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """Everything an engine needs to start one attempt. `user` None: ranks run as the server's own user.

    `wants_port`: a service; the engine chooses a free port on the first node and answers it as the handle's endpoint.
    """

    attempt: AttemptId
    job: JobId
    number: int
    nodes: tuple[NodeOrder, ...]
    device_type: str
    launcher: Launcher
    command: tuple[str, ...]
    env: dict[str, str]
    workdir: str | None
    server_url: str
    token: str
    grace: timedelta
    user: UnixUser | None = None
    log_limits: LogLimits = LogLimits()
    checkpoint_dir: str | None = None
    resume_from: str | None = None
    wants_port: bool = False

    @property
    def world_size(self) -> int:
        return sum(len(node.ranks) for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Handle:
    """How an engine finds an attempt again. `data` is its own and survives as JSON; `endpoint` is host:port."""

    attempt: AttemptId
    engine: str
    nodes: tuple[str, ...]
    endpoint: str | None = None
    data: dict[str, str] = field(default_factory=dict)


# The detail of a part that had ENDED before any rank started, because it was stopped in time: no agent tells of it.
WITHDRAWN = "withdrawn"


class Sight(StrEnum):
    """What an engine sees of one node's part of an attempt."""

    RUNNING = "running"
    ENDED = "ended"
    AGENT_LOST = "agent-lost"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Observation:
    """`ENDED`: the agent finished; `AGENT_LOST`: it died, what it left was killed; `ABSENT`: never begun."""

    attempt: AttemptId
    node: str
    sight: Sight
    at: datetime
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What any engine is opened with. `agent`: the zipapp it starts; `options`: what only this kind of engine knows.

    `python` runs agents and fills `{python}` in templates; `ca_file`: what agents trust when the server speaks TLS.
    """

    run_dir: Path
    agent: Path
    python: str
    report: timedelta
    ca_file: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


OpenEngine = Callable[[EngineConfig], "Engine"]
"""What an entry point of the group `headway.engines` names."""


class Engine(Protocol):
    """Where attempts run."""

    @property
    def name(self) -> str: ...

    @property
    def can(self) -> frozenset[Capability]: ...

    async def inventory(self) -> Inventory:
        """The nodes as they are now. Raises `engine-unreachable`."""
        ...

    async def launch(self, order: LaunchOrder) -> Handle:
        """Start an attempt; the same attempt id gives the same handle and never a second start.

        Raises `launch-refused` (nothing was started and never will be), or `engine-unreachable` (try again).
        """
        ...

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        """One observation for each node of each handle."""
        ...

    async def stop(self, handle: Handle, grace: timedelta) -> None:
        """Ask an attempt to end and, after `grace`, kill what is left. Gone already: no error."""
        ...

    def logs(self, handle: Handle, node: str) -> AsyncIterator[bytes]:
        """The engine's own log of one node's part, for when the agent never spoke."""
        ...


@runtime_checkable
class Nudges(Protocol):
    """An engine that reaches its agents at once: the capability `nudges`."""

    async def nudge(self, handle: Handle) -> None:
        """Have the attempt's agents report now, because the server has something to say. Who is gone is left out."""
        ...
