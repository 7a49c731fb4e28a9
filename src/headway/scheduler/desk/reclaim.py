"""Taking lent devices back: whose jobs are taken so that one gang within its guarantee can start.

Decides by the work destroyed: time since the last verified checkpoint × devices, then the newest. Only jobs on borrowed
quota that have run their minimum time; never a protected one; whole jobs only. What is within its guarantee is never
taken, so no two jobs ever evict each other in turn.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Line
from headway.scheduler.desk.pool import Limits


@dataclass(frozen=True, slots=True)
class Taking:
    """Victims, cheapest first, and the nodes of the pool on which the gang then fits."""

    pool: int
    nodes: tuple[int, ...]
    victims: tuple[Claim, ...]


def lost(claim: Claim, now: float) -> float:
    """The work that goes if the job is taken now, in device-seconds."""
    began = claim.began if claim.saved is None else max(claim.began, claim.saved)
    return max(0.0, now - began) * claim.devices


def on_borrowed(desk: Desk) -> set[JobId]:
    """Running jobs beyond their project's guarantee, counted from the oldest. Once within it a job stays within."""
    by_account: dict[int, list[Claim]] = defaultdict(list)
    for claim in desk.claims.values():
        rule = desk.accounts.rules[claim.account]
        if desk.accounts.used[claim.account] > rule.guaranteed != rule.ceiling:
            by_account[claim.account].append(claim)
    borrowed: set[JobId] = set()
    for account, claims in by_account.items():
        total = 0
        for claim in sorted(claims, key=lambda claim: (claim.began, claim.job)):
            total += claim.devices
            if total > desk.accounts.rules[account].guaranteed:
                borrowed.add(claim.job)
    return borrowed


def taking(desk: Desk, line: Line, pool: int, borrowed: Collection[JobId], barred: Limits) -> Taking | None:
    """The cheapest nodes to clear for the gang; None if even all borrowers there are not enough."""
    able = _candidates(desk, pool, borrowed)
    on_node: dict[int, list[tuple[Claim, int]]] = defaultdict(list)
    for claim in sorted(able, key=lambda claim: _price(claim, desk.now)):
        for node, devices in claim.spots:
            on_node[node].append((claim, devices))
    free = desk.pools[pool].free
    costs = [(0.0, node) for node in range(len(free)) if free[node] >= line.wanted and barred.get(node, 1)]
    clearing: dict[int, list[Claim]] = {}
    for node, claims in on_node.items():
        if barred.get(node, 1) and free[node] < line.wanted:
            needed = _enough(line.wanted - free[node], claims)
            if needed:
                clearing[node] = needed
                costs.append((sum(lost(claim, desk.now) for claim in needed) + 1.0, node))
    if len(costs) < line.nodes:
        return None
    nodes = [node for _, node in sorted(costs)[: line.nodes]]
    victims = {claim.job: claim for node in nodes for claim in clearing.get(node, ())}
    kept = _needed(victims.values(), nodes, line.wanted, desk, pool)
    return Taking(pool, tuple(sorted(nodes)), tuple(sorted(kept, key=lambda claim: _price(claim, desk.now))))


def making_room(
    desk: Desk, line: Line, pool: int, account: int, borrowed: Collection[JobId], barred: Limits
) -> Taking | None:
    """As `taking`, where a ceiling above the project is used up by others below it: enough of these go as well."""
    crowd = desk.accounts.crowded(account, line.owner, line.devices)
    if crowd is None:
        return None
    branch, lacking = crowd
    below = [job for job in borrowed if branch in desk.accounts.rules[desk.claims[job].account].above]
    found = taking(desk, line, pool, below, barred)
    if found is None:
        return None
    victims = list(found.victims)
    others = sorted(_candidates(desk, pool, below), key=lambda claim: _price(claim, desk.now))
    for claim in others:
        if sum(victim.devices for victim in victims) >= lacking:
            break
        if claim not in victims:
            victims.append(claim)
    if sum(victim.devices for victim in victims) < lacking:
        return None
    return Taking(pool, found.nodes, tuple(sorted(victims, key=lambda claim: _price(claim, desk.now))))


def _candidates(desk: Desk, pool: int, borrowed: Collection[JobId]) -> list[Claim]:
    oldest = desk.now - desk.policy.min_run.total_seconds()
    claims = (desk.claims[job] for job in borrowed)
    return [c for c in claims if c.pool == pool and c.takeable and not c.stopping and c.began <= oldest]


def _enough(short: int, claims: Iterable[tuple[Claim, int]]) -> list[Claim]:
    """The first that give back so many devices of a node together."""
    needed = []
    for claim, devices in claims:
        needed.append(claim)
        short -= devices
        if short <= 0:
            return needed
    return []


def _needed(claims: Iterable[Claim], nodes: list[int], wanted: int, desk: Desk, pool: int) -> list[Claim]:
    """Without those that the others make unnecessary, dearest first."""
    free = desk.pools[pool].free
    left = {node: free[node] for node in nodes}
    kept = list(claims)
    for claim in kept:
        for node, devices in claim.spots:
            if node in left:
                left[node] += devices
    for claim in sorted(kept, key=lambda claim: _price(claim, desk.now), reverse=True):
        mine = [(node, devices) for node, devices in claim.spots if node in left]
        if all(left[node] - devices >= wanted for node, devices in mine):
            kept.remove(claim)
            for node, devices in mine:
                left[node] -= devices
    return kept


def _price(claim: Claim, now: float) -> tuple[float, float, JobId]:
    return lost(claim, now), -claim.began, claim.job
