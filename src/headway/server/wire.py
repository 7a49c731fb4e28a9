"""What agents send and get, as in `docs/protocol.md` §3. Unknown keys are ignored: newer agents may say more."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _moment(value: object) -> object:
    """Seconds since the epoch as a moment. Raises ValueError for what no calendar has."""
    try:
        return datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else value
    except (OverflowError, OSError) as problem:
        raise ValueError(str(problem)) from None


def _foreign_moment(value: object) -> object:
    """A moment that a program told: nothing if it is none."""
    try:
        moment = _moment(value) if isinstance(value, int | float) else None
    except ValueError:
        return None
    return moment if isinstance(moment, datetime) and EARLIEST <= moment <= LATEST else None


def _foreign_text(value: object) -> str | None:
    return None if value is None else str(value)


# A clock may be wrong, but not so far that adding a few minutes leaves the calendar.
Moment = Annotated[AwareDatetime, BeforeValidator(_moment), Field(ge=EARLIEST, le=LATEST)]
ForeignText = Annotated[str | None, BeforeValidator(_foreign_text)]
# What programs write goes into columns of 64 bits, and into text columns that hold no NUL.
Count = Annotated[int, Field(ge=0, le=1 << 53)]
Rank = Annotated[int, Field(ge=0, le=999_999)]
Line = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$")]


class AgentFacts(BaseModel):
    """Who the agent is."""

    pid: Count
    start_ticks: Count
    version: str
    python: str = ""


class RankStarted(BaseModel):
    """A rank the agent has started."""

    rank: Rank
    pid: Count
    start_ticks: Count = 0
    started_at: Moment


class EventChunk(BaseModel):
    """Whole lines of a rank's events file from a byte offset on."""

    offset: Count
    data: str


class ErrorFile(BaseModel):
    """What a rank's error file said. A program wrote it, so it may hold anything: what is odd is left out."""

    message: ForeignText = None
    callstack: ForeignText = None
    timestamp: Annotated[AwareDatetime | None, BeforeValidator(_foreign_moment)] = None


class Exit(BaseModel):
    """How a rank ended, first-hand."""

    rank: Rank
    at: Moment
    code: int | None = None
    signal: int | None = None
    signal_name: str | None = None
    core: bool = False
    oom_kill: bool = False
    stopped_by_us: bool = False
    error: ErrorFile | None = None


class ReadingSeen(BaseModel):
    """One measurement."""

    t: Moment
    name: str = Field(max_length=64)
    rank: Rank | None = None
    device: Rank | None = None
    value: float


class Dropped(BaseModel):
    """Bytes that a rank wrote and nobody keeps, because of its limits."""

    rank: Rank
    from_: Count = Field(alias="from")
    bytes: Count
    lines: Count = 0
    t: Moment
    why: str


class Ended(BaseModel):
    """The end of one node's part; `logs`: how many bytes each rank's stream has in all; `left`: its agent went then."""

    at: Moment
    reason: str
    detail: str | None = None
    logs: dict[Rank, Count] = {}
    left: bool = False


class CheckpointSeen(BaseModel):
    """A checkpoint that a framework saved, by its path below the job's folder; `reason`: why not to go on from it."""

    format: Line
    path: Line
    step: Count | None = None
    bytes: Count = 0
    saved_at: Moment
    reason: Line | None = None
    detail: Annotated[str | None, Field(max_length=65536)] = None


class DiscardOrder(BaseModel):
    """Delete a checkpoint, by its path below the job's folder; `bytes`: what it held when it was chosen, None: any."""

    path: str
    bytes: int | None = None


class Discarded(BaseModel):
    """What became of such an order; `kept`: why it is still there, None: it is gone."""

    path: Line
    kept: Line | None = None


class Report(BaseModel):
    """One report of one node's agent."""

    seq: Count
    at: Moment
    agent: AgentFacts
    phase: Literal["starting", "running", "stopping", "ended"]
    facts: dict[str, str | int | float | bool | list[int] | list[str] | list[dict[str, Line]] | None] | None = None
    ranks: list[RankStarted] = []
    events: dict[Rank, EventChunk] = {}
    exits: list[Exit] = []
    readings: list[ReadingSeen] = []
    dropped: list[Dropped] = []
    drills_done: list[str] = []
    scenes: list[dict[str, Any]] = []
    checkpoints: list[CheckpointSeen] = []
    discarded: list[Discarded] = []
    ended: Ended | None = None


class StopOrder(BaseModel):
    """Stop this node's ranks."""

    reason: str
    grace_s: float


class KillOrder(BaseModel):
    """Signal one rank without warning, for a drill.

    `what` says otherwise: the agent itself (`agent`), it and everything of the attempt on its node (`node`), or nobody,
    but let the next save of the node's ranks fail (`mount`).
    """

    drill: str
    rank: int
    signal: int
    what: str = "rank"


class LookOrder(BaseModel):
    """Look at this node's ranks: everything of a `stall`, or only their `pace`."""

    look: str
    kind: str


class Answer(BaseModel):
    """What the server tells an agent back."""

    events: dict[int, int] = {}
    stop: StopOrder | None = None
    kill: list[KillOrder] = []
    look: list[LookOrder] = []
    save_every_s: float | None = None
    discard: list[DiscardOrder] = []
    over: bool = False


class LogAnswer(BaseModel):
    """Up to which byte a rank's output was received, and up to which it survives a crash."""

    received: int
    durable: int


class RankEvent(BaseModel):
    """One line of a rank's events file; which fields are there depends on the kind."""

    kind: str
    t: Moment
    step: Count | None = None
    total: Count | None = None
    metrics: dict[Line, float] = {}
    path: Line | None = None
    bytes: Count = 0
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    blocked: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    storage: Line | None = None
    to: Line | None = None
    copy_: Line | None = Field(default=None, alias="copy")
    reason: Line | None = None
    name: Line | None = None
