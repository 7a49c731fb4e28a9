"""Where a gang goes: the whole gang or nothing, on distinct nodes of one pool.

Decides which free devices to take, so that whole nodes stay whole for those who need them. It never looks at the order
of the queue.
"""

from collections.abc import Mapping
from heapq import nsmallest

from headway.domain.resources import Node, Placement, Request
from headway.scheduler.claims import Claim
from headway.scheduler.stock import Free


def fit(request: Request, free: Free, nodes: Mapping[str, Node]) -> tuple[Placement, ...] | None:
    """Placements for the whole request, by node name; None if it does not fit.

    Best fit: the node that keeps the fewest devices; among equals one that is wholly free.
    """
    wanted = request.devices_per_node
    able = [name for name, devices in free.items() if len(devices) >= wanted]
    if len(able) < request.nodes:
        return None

    def waste(name: str) -> tuple[int, bool, str]:
        return (len(free[name]) - wanted, len(free[name]) < nodes[name].devices, name)

    chosen = sorted(nsmallest(request.nodes, able, key=waste))
    return tuple(Placement(name, tuple(free[name][:wanted])) for name in chosen)


def as_held(request: Request, hold: Claim, free: Free) -> tuple[Placement, ...] | None:
    """The held placement exactly, if it has the shape of the request and all of it is free for the job."""
    shape = [len(placement.devices) for placement in hold.placements]
    if shape != [request.devices_per_node] * request.nodes or len({p.node for p in hold.placements}) != request.nodes:
        return None
    whole = all(set(p.devices) <= set(free.get(p.node, ())) for p in hold.placements)
    return hold.placements if whole else None
