"""Where a fault began: rank, node, role; or everywhere at once, or nowhere that the evidence tells."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from headway.diagnosis.cause import Cause
from headway.diagnosis.finding.absence import said_to_be_gone
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.decide import ORDERS, RIGHT_AFTER
from headway.diagnosis.finding.exits import TERMINATED, Exit
from headway.diagnosis.reading.read import Reading

_NETWORK = frozenset({Cause.COMM_TIMEOUT, Cause.COMM_BOOTSTRAP, Cause.RDMA_LINK})
_ALIKE = frozenset({Cause.CONFIG_LAUNCH, Cause.DEP_IMPORT, Cause.CKPT_MISMATCH})
"""What is the same for every rank: where two say it, the others were stopped before they could."""
FEWEST_ALIKE = 3
"""Ranks with the same words that stand for all, if they are three quarters: some were stopped before they said it."""
NEAR_LINES = 30
"""Lines after a fault within which the traceback it ended in begins."""
_ROLES = {
    "TaskRunner": "controller",
    "main_task": "controller",
    "Driver": "controller",
    "driver": "controller",
    "env_server": "env-server",
    "RolloutWorker": "rollout",
    "vLLMHttpServer": "rollout",
    "SGLangHttpServer": "rollout",
    "RewardManagerWorker": "reward",
    "RewardLoopWorker": "reward",
    "AgentLoopWorker": "rollout",
    "APIServer": "api-server",
}
_RANKLESS = ("controller", "env", "rollout", "reward", "api", "judge", "sandbox", "router", "inference", "policy")
"""How the names of roles begin that have no training rank."""


@dataclass(slots=True)
class Place:
    """None: not told. `everywhere`: all ranks at once, so none and no node is suspect."""

    rank: int | None
    node: str | None
    role: str | None
    everywhere: bool = False


def locate(reading: Reading, lead: Claim, faults: Sequence[Claim], ends: Sequence[Exit]) -> Place:
    """Where `lead` began, by its own words, by others of the same fault, by the launcher, by its file."""
    role = _role(lead.role)
    same = [claim for claim in faults if claim.cause is lead.cause]
    if lead.cause in ORDERS:
        return Place(_pod_rank(same), _node(reading, lead, same, None, ends), None)
    if role is not None:
        return Place(None, None if role == "controller" else lead.node, role)
    rank = lead.rank if lead.rank is not None else _rank(reading, lead, same, ends)
    if lead.at is None and lead.rank is not None:
        seen = _seen_first(lead, _alike(lead, same), ends)
        rank = seen if seen is not None else rank
    if _is_everywhere(reading, lead, same, ends):
        return Place(None, None, None, True)
    if lead.cause in _NETWORK and _is_two_sided(reading, lead, same):
        return Place(None, None, None)
    return Place(rank, _node(reading, lead, same, rank, ends), None)


def place_in_code(lead: Claim, claims: Sequence[Claim]) -> str | None:
    """Where in the program the speaker of `lead` was: by the traceback of the same fault, else by the nearest."""
    if agreed := _agreed(lead, claims):
        return agreed
    here = [claim for claim in claims if claim.location and claim.entry.file == lead.entry.file]
    own = [claim for claim in here if claim.rank == lead.rank or None in (claim.rank, lead.rank)]
    same = [claim for claim in own if claim.cause is lead.cause]
    near = [claim for claim in own if 0 < claim.entry.number - lead.entry.number <= NEAR_LINES]
    above = [claim for claim in own if 0 < lead.entry.number - claim.entry.number <= RIGHT_AFTER]
    return next((claim.location for claim in [*same, *near, *reversed(above)]), None)


def _agreed(lead: Claim, claims: Sequence[Claim]) -> str | None:
    """Where most that say the same say it, the deeper of two: a traceback whose inner frame was lost ends too early."""
    same = [claim for claim in claims if claim.location and claim.cause is lead.cause and claim.words == lead.words]
    count, depth = Counter(claim.location for claim in same), Counter[str]()
    for claim in same:
        depth[claim.location or ""] = max(depth[claim.location or ""], len(claim.frames))
    best = max(count, key=lambda place: (count[place], depth[place or ""], place == lead.location), default=None)
    return best if lead.words else lead.location


def _role(name: str | None) -> str | None:
    """The role of a speaker that is no training rank; None for those that are."""
    known = _ROLES.get(name or "", (name or "").replace("_", "-"))
    return known if known.startswith(_RANKLESS) else None


def _pod_rank(same: Sequence[Claim]) -> int | None:
    """What a scheduler does is done to a job; to a rank only where it names one pod."""
    ranks = {claim.rank for claim in same if claim.entry.pod and claim.rank is not None}
    return next(iter(ranks)) if len(ranks) == 1 else None


def _rank(reading: Reading, lead: Claim, same: Sequence[Claim], ends: Sequence[Exit]) -> int | None:
    """The rank of a fault whose line names none: the launcher's first, then the only one of the same fault."""
    if lead.cause in _NETWORK and not lead.in_trace:
        return None
    if lead.in_trace and lead.copies > 1 and not any(end.in_summary for end in ends):
        return None
    roots = [end for end in ends if end.is_root and end.signal != TERMINATED and end.rank is not None]
    roots = [end for end in roots if end.entry.file == lead.entry.file] or roots
    if roots:
        return min(roots, key=lambda end: (not end.in_summary, end.at or 0.0)).rank
    nodes = (None, lead.node)
    ranks = {claim.rank for claim in same if claim.rank is not None and (lead.node is None or claim.node in nodes)}
    if len(ranks) == 1 and not lead.in_trace:
        return next(iter(ranks))
    if (soon := _says_soon(reading, lead)) is not None:
        return soon
    ended = {end.rank for end in ends if end.rank is not None and end.code not in (0, -TERMINATED, 128 + TERMINATED)}
    gone = ended or said_to_be_gone(reading.entries)
    if len(gone) == 1:
        return next(iter(gone))
    return 0 if reading.world.is_single and not lead.entry.pod else None


def _says_soon(reading: Reading, lead: Claim) -> int | None:
    """The only rank that is named in the lines right after an exception: the one whose process ends says who it is."""
    if not lead.in_trace or lead.copies > 1:
        return None
    file, number = lead.place
    after = [e for e in reading.entries if e.file == file and number < e.number <= number + RIGHT_AFTER]
    ranks = {entry.rank for entry in after if entry.rank is not None and entry.pid in (lead.entry.pid, None)}
    return ranks.pop() if len(ranks) == 1 else None


def _alike(lead: Claim, same: Sequence[Claim]) -> set[int]:
    """The ranks that say what the rank of `lead` says."""
    said = {claim.words for claim in same if claim.rank == lead.rank}
    return {claim.rank for claim in same if claim.words in said and claim.rank is not None}


def _seen_first(lead: Claim, ranks: set[int], ends: Sequence[Exit]) -> int | None:
    """Of ranks that say the same without a time: the one whose end its launcher saw first."""
    roots = [end for end in ends if end.is_root and end.rank in ranks and end.entry.file == lead.entry.file]
    return roots[0].rank if len({end.rank for end in roots}) == 1 else None


def _is_everywhere(reading: Reading, lead: Claim, same: Sequence[Claim], ends: Sequence[Exit]) -> bool:
    """The same words from every rank, or several times from nobody in particular: deterministic, no rank is suspect."""
    if any(end.in_summary for end in ends):
        return False
    if lead.rank is None:
        return lead.in_trace and lead.copies > 1 and lead.node is None
    ranks = _alike(lead, same)
    if lead.cause in _ALIKE and len(ranks) > 1 and _seen_first(lead, ranks, ends) is None:
        return True
    size = max(reading.world.size or 0, max(reading.world.ranks, default=0) + 1)
    return 1 < size <= len(ranks) or (len(ranks) >= FEWEST_ALIKE and 4 * len(ranks) >= 3 * size)


def _is_two_sided(reading: Reading, lead: Claim, same: Sequence[Claim]) -> bool:
    """A broken connection is no more one side's than the other's: only where a single node shows it is it named."""
    nodes = {claim.node for claim in same if claim.node}
    if lead.cause is Cause.RDMA_LINK:
        return len({claim.node for claim in same if claim.node and claim.weight >= lead.weight}) > 1
    if lead.cause is Cause.COMM_BOOTSTRAP:
        return "No route to host" in lead.entry.text or "onnection refused" in lead.entry.text
    complaining = {entry.node for entry in reading.entries if entry.node and "NCCL WARN" in entry.raw}
    return len(nodes | complaining) > 1


def _node(reading: Reading, lead: Claim, same: Sequence[Claim], rank: int | None, ends: Sequence[Exit]) -> str | None:
    if lead.node:
        return lead.node
    if rank is not None:
        told = [end.node for end in ends if end.rank == rank and end.node]
        if told or rank in reading.world.node_of_rank:
            return told[0] if told else reading.world.node_of_rank[rank]
    nodes = {claim.node for claim in same if claim.node}
    if len(nodes) == 1:
        return next(iter(nodes))
    return _of_many_cards(reading) if lead.cause is Cause.P2P_TOPO else None


def _of_many_cards(reading: Reading) -> str | None:
    """Cards reach each other directly within a node only: the one node more than one card of which is heard of."""
    cards: dict[str, set[int]] = {}
    for entry in reading.entries:
        if entry.node and entry.device is not None:
            cards.setdefault(entry.node, set()).add(entry.device)
    nodes = set(reading.world.node_of_rank.values())
    many = [node for node, known in cards.items() if len(known) > 1] if len(nodes) > 1 else list(nodes)
    return many[0] if len(many) == 1 else None
