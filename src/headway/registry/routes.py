"""What the gateway is to serve: the value of its routes file. Writes nothing and talks to no replica.

Requests are never left without somewhere to go: if a version of the split has no ready replica, its part goes to the
others in proportion, until it is ready again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headway.domain.service import Replica, ReplicaState, Service, Split
from headway.registry.rollout import WHOLE


def routes(services: Iterable[Service], replicas: Iterable[Replica], generation: int) -> dict[str, Any]:
    """The routes file's value: every service with a split that some ready replica can serve.

    A ready version outside the split is listed with weight 0. A replica belongs to the service its split names.
    """
    ready = [each for each in replicas if each.state is ReplicaState.READY and each.endpoint]
    found = [_service(service, service.split, ready) for service in services if service.split]
    listed = sorted((each for each in found if each), key=lambda each: (each["project"], each["name"]))
    return {"generation": generation, "services": listed}


def _service(service: Service, split: Split, ready: Sequence[Replica]) -> dict[str, Any] | None:
    endpoints: dict[str, set[str]] = {}
    for replica in ready:
        if replica.service == split.service and replica.endpoint:
            endpoints.setdefault(replica.version, set()).add(replica.endpoint)
    asked = {share.version: share.weight for share in split.shares}
    weights = spread({version: asked.get(version, 0) for version in sorted(endpoints)})
    if service.stopped_at is not None or not any(weights.values()):
        return None
    return {
        "name": service.name,
        "project": service.project,
        "prefix": f"/s/{service.project}/{service.name}/",
        "splits": [
            {"version": version, "weight": weight, "endpoints": sorted(endpoints[version])}
            for version, weight in weights.items()
        ],
    }


def spread(weights: Mapping[str, int]) -> dict[str, int]:
    """Weights in the same proportion that add up to 100 (largest remainder); all 0 stay 0."""
    total = sum(weights.values())
    if total in (0, WHOLE):
        return dict(weights)
    parts = {version: weight * WHOLE // total for version, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda version: (-(weights[version] * WHOLE % total), version))
    for version in by_remainder[: WHOLE - sum(parts.values())]:
        parts[version] += 1
    return parts
