"""What can never run: refused at submission, with the limit named.

Every node counts, whatever its state: one that is down today may be up tomorrow. Quota is no matter here; a job over
its quota waits.
"""

from collections import defaultdict
from collections.abc import Iterable

from headway.domain.errors import PlatformError
from headway.domain.resources import Node, Request


def largest_possible(nodes: Iterable[Node], request: Request) -> int:
    """The most nodes a gang of the request's `devices_per_node` could have in one pool it accepts.

    Raises `impossible-request`, naming `device_types`, `devices_per_node` or `nodes`, when the request is beyond that.
    """
    pools: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node in nodes:
        pools[node.device_type, node.engine].append(node.devices)
    types = ", ".join(sorted({device_type for device_type, _ in pools}))
    accepted = {pool: sizes for pool, sizes in pools.items() if request.accepts(pool[0])}
    if not accepted:
        raise _impossible("device_types", ", ".join(request.device_types) or None, None, 0, types)
    deepest = max(accepted, key=lambda pool: max(accepted[pool]))
    if request.devices_per_node > (limit := max(accepted[deepest])):
        raise _impossible("devices_per_node", request.devices_per_node, deepest[0], limit, types)
    counts = {pool: sum(size >= request.devices_per_node for size in sizes) for pool, sizes in accepted.items()}
    widest = max(counts, key=lambda pool: counts[pool])
    if request.nodes > counts[widest]:
        raise _impossible("nodes", request.nodes, widest[0], counts[widest], types)
    return counts[widest]


def _impossible(field: str, value: str | int | None, device_type: str | None, limit: int, types: str) -> PlatformError:
    device_type = device_type or (str(value) if value else None)
    return PlatformError(
        "impossible-request", field=field, value=value, device_type=device_type, limit=limit, types=types or None
    )
