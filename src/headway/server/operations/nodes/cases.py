"""A file for each node: its faults beside the pool's norm, cordons, retests and returns; and what failed together.

Read from the facts; it closes nothing. A person, or a rule that a person wrote, does.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.diagnosis.cases.blame import Blame, Counted, weigh
from headway.diagnosis.cases.suspicion import Record, Suspicion, suspect
from headway.diagnosis.verdict import Owner
from headway.domain.attempt import Attempt
from headway.domain.events import Fact, VerdictReached
from headway.domain.ids import AttemptId
from headway.domain.node_events import NodeChanged, NodeFaultSeen, RetestEnded, RetestRequested
from headway.domain.resources import Node
from headway.server.operations.agents.ranks import ranks_of
from headway.store import attempts, facts, jobs, nodes
from headway.store.nodes import Cordon

DAY = timedelta(days=1)
TOLD = (VerdictReached.kind, NodeChanged.kind, NodeFaultSeen.kind, RetestRequested.kind, RetestEnded.kind)


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a node: its own faults, beside all other cards of the pool."""

    device: int
    record: Record
    suspicion: Suspicion


@dataclass(frozen=True, slots=True)
class CaseFile:
    """What is known of one node since a moment.

    `attempts`: how many ran there; `history`: facts about it, oldest first.
    """

    node: Node
    record: Record
    suspicion: Suspicion
    attempts: int
    cordon: Cordon | None
    faults: tuple[Counted, ...]
    cards: tuple[Card, ...]
    history: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class _Past:
    """Everything that case files are made of."""

    now: datetime
    since: datetime
    attempts: Sequence[Attempt]
    faults: tuple[Counted, ...]
    told: Sequence[Fact]


Where = tuple[str, int | None]
"""A node, or one card of it."""


def case_files(c: Connection, now: datetime, since: datetime) -> list[CaseFile]:
    """One file for each node, the most suspect first."""
    tries = attempts.since(c, since)
    told = [fact for fact in facts.all(c, kinds=TOLD) if fact.at >= since]
    past = _Past(now, since, tries, weigh(_blames(c, told, {a.id: a for a in tries})), told)
    records = _records(past)
    known, closed = nodes.all(c), nodes.cordons(c)
    files = []
    for pool in _pools(known).values():
        alike = [(node.name, None) for node in pool]
        cards: list[Where] = [(node.name, device) for node in pool for device in range(node.devices)]
        sums = _sum(records, alike), _sum(records, cards)
        files += [_file(past, records, sums, node, closed.get(node.name)) for node in pool]
    return sorted(files, key=lambda file: (-file.suspicion.score, file.node.name))


def _file(
    past: _Past, records: Mapping[Where, Record], sums: tuple[Record, Record], node: Node, cordon: Cordon | None
) -> CaseFile:
    of_nodes, of_cards = sums
    own = records.get((node.name, None), Record())
    cards = [(device, records.get((node.name, device), Record())) for device in range(node.devices)]
    return CaseFile(
        node=node,
        record=own,
        suspicion=suspect(own, of_nodes - own),
        attempts=sum(any(p.node == node.name for p in attempt.placements) for attempt in past.attempts),
        cordon=cordon,
        faults=tuple(fault for fault in past.faults if fault.blame.node == node.name),
        cards=tuple(Card(device, record, suspect(record, of_cards - record)) for device, record in cards),
        history=tuple(fact for fact in past.told if node.name in _about(fact)),
    )


def _records(past: _Past) -> dict[Where, Record]:
    """Faults that count and days in use, of every node and every card."""
    found: dict[Where, Record] = defaultdict(Record)
    for attempt in past.attempts:
        days = ((attempt.ended_at or past.now) - max(attempt.placed_at, past.since)) / DAY
        for placement in attempt.placements:
            for device in placement.devices:
                found[placement.node, device] += Record(days=days)
    for (node, _), record in list(found.items()):
        found[node, None] = Record(days=max(found[node, None].days, record.days))
    for fault in past.faults:
        if fault.counts:
            found[fault.blame.node, None] += Record(faults=1)
            if fault.blame.device is not None:
                found[fault.blame.node, fault.blame.device] += Record(faults=1)
    return found


def _blames(c: Connection, told: Iterable[Fact], tries: Mapping[AttemptId, Attempt]) -> Iterable[Blame]:
    """Verdicts that hold a node responsible, and faults that its kernel or card tools told of."""
    for fact in told:
        if isinstance(fact, NodeFaultSeen):
            yield Blame(fact.at, fact.node, fact.fault, fact.kind, fact.device, code=fact.code)
        if isinstance(fact, VerdictReached) and fact.owner == Owner.OPERATOR and fact.node is not None:
            device = _device(c, fact, tries.get(fact.attempt))
            yield Blame(fact.at, fact.node, fact.fault, fact.kind, device, fact.job, fact.attempt)


def _device(c: Connection, fact: VerdictReached, attempt: Attempt | None) -> int | None:
    """The card of the rank that failed first, where each rank has a card of its own."""
    job = None if attempt is None or fact.rank is None else jobs.get(c, fact.job)
    if job is None or attempt is None or fact.rank is None:
        return None
    for placement in attempt.placements:
        ranks = ranks_of(job, attempt)[placement.node]
        if fact.rank in ranks and len(ranks) == len(placement.devices):
            return placement.devices[fact.rank - ranks.start]
    return None


def _about(fact: Fact) -> tuple[str, ...]:
    if isinstance(fact, RetestRequested | RetestEnded):
        return fact.nodes
    node: str | None = getattr(fact, "node", None)
    return () if node is None else (node,)


def _pools(known: Iterable[Node]) -> dict[tuple[str, str], list[Node]]:
    pools: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node in known:
        pools[node.engine, node.device_type].append(node)
    return pools


def _sum(records: Mapping[Where, Record], which: Iterable[Where]) -> Record:
    return sum((records.get(where, Record()) for where in which), Record())
