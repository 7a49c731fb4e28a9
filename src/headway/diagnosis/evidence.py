"""What was seen of an attempt that ended, gathered before anything is concluded from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headway.diagnosis.hang.scene import Scene
from headway.domain.attempt import RankExit
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True)
class LogTail:
    """The last bytes of one rank's output; `offset` is where they begin in the whole stream."""

    rank: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class MachineWord:
    """What a node's kernel or card tool said, word for word. `rank`: whose card it is about, where that is known."""

    node: str
    at: datetime
    text: str
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything `examine` may look at. `nodes` maps each rank to its node; `stop_reason`: Headway stopped it.

    `lost_agents`: when each silent agent was given up, or was last heard of on one of the `failed_nodes`: those the
    batch system says went down. `drill_rank`: the rank Headway killed on purpose. `machines`: what the attempt's nodes
    said of themselves while it ran. `ended_for`: why a batch system ended each node's part, in the words of
    `engines.protocol.Cause`.
    """

    job: JobId
    attempt: AttemptId
    nodes: Mapping[int, str]
    exits: tuple[RankExit, ...]
    logs: Mapping[int, LogTail] = field(default_factory=dict)
    lost_agents: Mapping[str, datetime] = field(default_factory=dict)
    failed_nodes: frozenset[str] = frozenset()
    stop_reason: str | None = None
    launch_error: str | None = None
    drill_rank: int | None = None
    last_step: int | None = None
    scenes: tuple[Scene, ...] = ()
    machines: tuple[MachineWord, ...] = ()
    ended_for: Mapping[str, str] = field(default_factory=dict)
