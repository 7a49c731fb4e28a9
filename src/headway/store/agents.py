"""What the agents told of each attempt: their nodes, their ranks, how these ended, and how far events were read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from headway.domain.attempt import RankExit
from headway.domain.ids import AttemptId
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import InsertNew, Upsert

_nodes, _ranks, _exits, _offsets = schema.attempt_nodes, schema.attempt_ranks, schema.rank_exits, schema.event_offsets

AGENT = ("agent_pid", "agent_start_ticks")
_LOOKED_AT = 1000
GIVEN = ("cards", "taken_at", "left_at", "mounts", "boot", "file_systems")


@dataclass(frozen=True, slots=True)
class NodeReport:
    """One node's part of an attempt as its agent last told it.

    `facts`: which agent spoke (`AGENT`), what it had (`GIVEN`), and the environment that its first report tells;
    `streams`, with the end: how many bytes each rank printed in all. `cause`: what a batch system ended it for.
    """

    attempt: AttemptId
    node: str
    phase: str
    seq: int
    first_at: datetime
    last_at: datetime
    ended_at: datetime | None = None
    ended_reason: str | None = None
    detail: str | None = None
    facts: dict[str, Any] | None = None
    streams: dict[str, int] | None = None
    cause: str | None = None

    @property
    def environment(self) -> dict[str, Any]:
        """What the agent found on its node; empty where it has not told."""
        return {name: value for name, value in (self.facts or {}).items() if name not in (*AGENT, *GIVEN)}

    @property
    def given(self) -> dict[str, Any]:
        """Its cards; since when, where a batch system gave them; when its agent went, if that left something untold;
        what it has mounted, as `kind source` of the places the job uses, and all of it with the machine's `boot`."""
        return {name: value for name, value in (self.facts or {}).items() if name in GIVEN and value is not None}


@dataclass(frozen=True, slots=True)
class RankStart:
    """A rank's process as its agent started it."""

    rank: int
    node: str
    pid: int
    started_at: datetime


_REPORT = Shape(NodeReport, _nodes)
_START = Shape(RankStart, _ranks)
_KEPT = ("ended_at", "ended_reason", "detail", "facts", "streams", "cause")
_UPSERT = Upsert(
    _nodes,
    change=lambda new: {"first_at": _nodes.c.first_at} | {k: func.coalesce(new[k], _nodes.c[k]) for k in _KEPT},
)
_SET_RANKS = Upsert(_ranks)
_NEW_EXIT = InsertNew(_exits)
_SET_OFFSET = Upsert(_offsets)
_OF_ATTEMPT = _REPORT.select().where(_nodes.c.attempt == bindparam("attempt")).order_by(_nodes.c.node)
_NEWEST_ON = (
    select(_nodes.c.node, _nodes.c.facts)
    .where(_nodes.c.node.in_(bindparam("names", expanding=True)), _nodes.c.facts.is_not(None))
    .order_by(_nodes.c.first_at.desc())
    .limit(_LOOKED_AT)
)
_RANKS = _START.select().where(_ranks.c.attempt == bindparam("attempt")).order_by(_ranks.c.rank)
_EXITS = select(_exits.c.content).where(_exits.c.attempt == bindparam("attempt")).order_by(_exits.c.rank)
_OFFSET = select(_offsets.c.offset).where(
    _offsets.c.attempt == bindparam("attempt"), _offsets.c.rank == bindparam("rank")
)


def upsert(c: Connection, report: NodeReport) -> None:
    """Note a node's newest report; when it first spoke, its facts and its end stay once they are known."""
    _UPSERT(c, _REPORT.row(report))


def of_attempt(c: Connection, attempt: AttemptId) -> list[NodeReport]:
    """The nodes of an attempt whose agents have spoken, by name."""
    return _REPORT.all(c, _OF_ATTEMPT, {"attempt": attempt})


def newest_facts(c: Connection, names: Collection[str]) -> dict[str, dict[str, Any]]:
    """What the agent that spoke last on each of these nodes told of it; a node without a late attempt is left out."""
    found: dict[str, dict[str, Any]] = {}
    for node, facts in c.execute(_NEWEST_ON, {"names": list(names)}):
        found.setdefault(node, facts)
    return found


def record_ranks(c: Connection, attempt: AttemptId, node: str, started: Sequence[tuple[int, int, datetime]]) -> None:
    """Note the processes of a node's ranks as (rank, pid, started_at)."""
    rows = [_START.row(RankStart(rank, node, pid, at), attempt=attempt) for rank, pid, at in started]
    _SET_RANKS(c, rows)


def ranks(c: Connection, attempt: AttemptId) -> list[RankStart]:
    """The processes of an attempt's ranks, by rank."""
    return _START.all(c, _RANKS, {"attempt": attempt})


def record_exit(c: Connection, attempt: AttemptId, exit: RankExit) -> bool:
    """Note how a rank ended; False when it is known already: the first report stands."""
    return _NEW_EXIT(c, {"attempt": attempt, "rank": exit.rank, "content": exit}) == 1


def exits(c: Connection, attempt: AttemptId) -> list[RankExit]:
    """How an attempt's ranks ended, by rank."""
    return list(c.execute(_EXITS, {"attempt": attempt}).scalars())


def event_offset(c: Connection, attempt: AttemptId, rank: int) -> int:
    """The byte up to which a rank's events are recorded."""
    return c.execute(_OFFSET, {"attempt": attempt, "rank": rank}).scalar() or 0


def set_event_offset(c: Connection, attempt: AttemptId, rank: int, offset: int) -> None:
    """Note that a rank's events are recorded up to this byte, in the transaction that records them."""
    _SET_OFFSET(c, {"attempt": attempt, "rank": rank, "offset": offset})
