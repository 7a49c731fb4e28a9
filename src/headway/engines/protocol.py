"""Where attempts run: five verbs, and the values they take and give.

Every verb is quick, idempotent and safe to repeat after a crash. **Unknown is not dead**: what cannot be seen is
answered as `UNKNOWN`, and only the server, with its time-outs, may turn that into lost. An engine never decides which
job runs.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Launcher
from headway.domain.resources import Node, Occupied


class Capability(StrEnum):
    """What only some engines can do, each with a small protocol of its own.

    Two have none. `BECOMES`: it starts attempts as their submitters although the server is not root (`become.py`).
    `KEEPS`: devices of an attempt that has ended are nobody's but this server's, which may use them again at once.
    """

    CORDONS = "cordons"
    OCCUPANCY = "occupancy"
    PREFLIGHT = "preflight"
    NOTICES = "notices"
    NUDGES = "nudges"
    WATCHES_NODES = "watches-nodes"
    BOOKS = "books"
    BECOMES = "becomes"
    CLEARS = "clears"
    KEEPS = "keeps"
    SHARES = "shares"


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
    `project`: whom a batch system with accounts of its own is to charge.
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
    project: str | None = None

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
# How the detail begins of a part that had ENDED because its order could not be carried out; what failed follows.
START_FAILED = "start-failed"


def word_of(final: Mapping[str, Any]) -> str | None:
    """The detail of a part that ENDED, from its agent's `final.json`."""
    reason, detail = final.get("reason"), final.get("detail")
    return f"{START_FAILED}: {detail}" if reason == START_FAILED and detail else reason


class Sight(StrEnum):
    """What an engine sees of one node's part of an attempt."""

    RUNNING = "running"
    ENDED = "ended"
    AGENT_LOST = "agent-lost"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Cause(StrEnum):
    """Why a batch system ended a part, or failed its job."""

    NODE_FAIL = "node-fail"
    BOOT_FAIL = "boot-fail"
    OUT_OF_MEMORY = "out-of-memory"
    TIMEOUT = "timeout"
    PREEMPTED = "preempted"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Observation:
    """`ENDED`: the agent finished; `AGENT_LOST`: it died, what it left was killed; `ABSENT`: never begun.

    `waiting`: a batch system has accepted the attempt and not started it, and why; `late`: for longer than its site
    allows, so that it had better be stopped and placed anew. `cause`: what the batch system ended it for.
    """

    attempt: AttemptId
    node: str
    sight: Sight
    at: datetime
    detail: str | None = None
    cause: Cause | None = None
    waiting: str | None = None
    late: bool = False

    @property
    def start_failure(self) -> str | None:
        """What failed, where the order could not be carried out: there may be no agent that could tell of it."""
        if self.sight is not Sight.ENDED or not (self.detail or "").startswith(START_FAILED):
            return None
        return (self.detail or "").partition(": ")[2] or START_FAILED


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


class CordonKind(StrEnum):
    """How a node is kept from new attempts."""

    DRAINED = "drained"
    RESERVED = "reserved"
    EXCLUDED = "excluded"


class Cordons(Protocol):
    """`CORDONS`: keeping a node from new attempts of anybody, for as long as somebody mends it."""

    async def cordon(self, node: str, reason: str) -> CordonKind:
        """Close a node. `EXCLUDED`: the engine may not; the server must leave it out. Raises `engine-unreachable`."""
        ...

    async def uncordon(self, node: str) -> None:
        """The way back from this engine's own cordons; a node somebody else closed stays closed."""
        ...


class Occupancy(Protocol):
    """`OCCUPANCY`: who else uses the nodes."""

    async def occupied(self) -> Sequence[Occupied]:
        """What is used by others now. Raises `engine-unreachable`."""
        ...


class WatchesNodes(Protocol):
    """`WATCHES_NODES`: a watch of the nodes of the engine's own, beside the agents' reports."""

    async def unresponsive(self, nodes: Collection[str]) -> Collection[str]:
        """Those of these nodes from which that watch gets no answer now. Raises `engine-unreachable`."""
        ...


@dataclass(frozen=True, slots=True)
class Charge:
    """What a batch system's own accounting counts for one attempt; `is_open`: some of it still runs in its eyes."""

    attempt: AttemptId
    device_seconds: int
    is_open: bool = False


class Books(Protocol):
    """`BOOKS`: the batch system keeps accounts of its own, to compare with the ledger."""

    async def charged(self, since: datetime) -> Sequence[Charge]:
        """One charge for each attempt that had devices since then. Raises `engine-unreachable`."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a site needs. `code`: a message `check-<code>` with `params`; `ok` None: could not be found out."""

    code: str
    ok: bool | None
    params: Mapping[str, str] = field(default_factory=dict)


class Preflight(Protocol):
    """`PREFLIGHT`: naming what a site lacks, before the first job does."""

    async def check(self, server_url: str, users: Sequence[UnixUser] = ()) -> Sequence[Finding]:
        """Try everything a job will need; `server_url`: where agents will report; `users`: whose jobs will be started.

        Never raises for what is missing.
        """
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """An attempt that the batch system is about to end, `reason` (`time-limit`, `preempted`) and when."""

    attempt: AttemptId
    reason: str
    deadline: datetime


class Notices(Protocol):
    """`NOTICES`: ends that are coming, early enough for a last checkpoint."""

    async def notices(self, handles: Sequence[Handle]) -> Sequence[Notice]:
        """At most one for each handle; unreachable: none."""
        ...


class Shares(Protocol):
    """`SHARES`: folders that are the same on this server and on every node."""

    @property
    def shares(self) -> Sequence[str]: ...


class Clears(Protocol):
    """`CLEARS`: the folders attempts ran in can be removed, once nothing in them is left to tell."""

    async def kept(self) -> Collection[AttemptId]:
        """Attempts of which there are files. Raises `engine-unreachable`."""
        ...

    async def clear(self, attempt: AttemptId) -> int | None:
        """Remove an ended attempt's files; the bytes that were in them. Raises `engine-unreachable`.

        None: they stay, because an agent is there or something in them has not been delivered.
        """
        ...
