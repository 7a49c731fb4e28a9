"""What follows from the evidence of one attempt: the values, without the reasoning that reaches them.

A verdict never names a rank the evidence does not single out, and says how sure it is.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.ids import AttemptId


class Owner(StrEnum):
    """Whose move it is."""

    RESEARCHER = "researcher"
    OPERATOR = "operator"
    NOBODY = "nobody"


class Fault(StrEnum):
    """How an attempt ended. Which of the forty causes it was is told apart from it, where that is known."""

    NONE = "none"
    CODE_ERROR = "code-error"
    DEVICE_OUT_OF_MEMORY = "device-out-of-memory"
    HOST_OUT_OF_MEMORY = "host-out-of-memory"
    KILLED = "killed"
    CRASHED = "crashed"
    MACHINE_FAULT = "machine-fault"
    AGENT_LOST = "agent-lost"
    NODE_DOWN = "node-down"
    LAUNCH_FAILED = "launch-failed"
    STALLED = "stalled"
    STOPPED = "stopped"
    PEER_CLOSED = "peer-closed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One line that supports a verdict, at most 300 characters of it; `offset` is its first byte in the stream.

    `stream`: the rank whose stream it stands in, where that is not its own (torchrun gathers a node's ranks in one).
    """

    rank: int
    offset: int
    text: str
    stream: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows from the evidence. `rank`, `node`, `at`: the first fault; `followers`: ranks it took along.

    `retry`: whether the same attempt again is worth its cards; `advice`: how, in one of the words of `cause.Retry`.
    `confidence` is 0..1. `drill`: Headway broke it on purpose. `cause`: one of the forty classes of `cause.Cause`,
    where it is known.
    """

    attempt: AttemptId
    fault: Fault
    owner: Owner
    retry: bool
    confidence: float
    rank: int | None = None
    node: str | None = None
    at: datetime | None = None
    signal_name: str | None = None
    code: int | None = None
    location: str | None = None
    detail: str | None = None
    followers: tuple[int, ...] = ()
    lines: tuple[EvidenceLine, ...] = ()
    drill: bool = False
    cause: str | None = None
    advice: str | None = None
