"""What each version's traffic looks like: counts since Envoy began, and latency over the last minute.

Turns Envoy's statistics into `stats.json`. Decides nothing about traffic; gates that do read this file.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WINDOW_S = 60.0
PATTERN = (
    r"^cluster\.[^/]+/[^/]+/.+\.(upstream_rq_completed|upstream_rq_5xx|upstream_cx_connect_fail|upstream_rq_active"
    r"|membership_healthy|membership_total|upstream_rq_time)$"
)

Bucket = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """One cluster at one moment: counts since Envoy began; `latency` counts answers per (lower bound, width) in ms."""

    requests: int = 0
    errors_5xx: int = 0
    connect_failures: int = 0
    in_flight: int = 0
    healthy: int = 0
    endpoints: int = 0
    latency: Mapping[Bucket, int] = field(default_factory=dict)


def read(stats: Iterable[Mapping[str, Any]], clusters: Iterable[str]) -> dict[str, Reading]:
    """Envoy's statistics as one reading per cluster."""
    values: dict[str, int] = {}
    latency: dict[str, Mapping[Bucket, int]] = {}
    for each in stats:
        if "value" in each:
            values[each["name"]] = int(each["value"])
        for histogram in each.get("histograms", {}).get("details", []):
            latency[histogram["name"]] = {
                (bucket["lower_bound"], bucket["width"]): bucket["count"] for bucket in histogram["totals"]
            }
    return {name: _reading(f"cluster.{name}", values, latency) for name in clusters}


def _reading(prefix: str, values: Mapping[str, int], latency: Mapping[str, Mapping[Bucket, int]]) -> Reading:
    def value(name: str) -> int:
        return values.get(f"{prefix}.{name}", 0)

    return Reading(
        requests=value("upstream_rq_completed"),
        errors_5xx=value("upstream_rq_5xx"),
        connect_failures=value("upstream_cx_connect_fail"),
        in_flight=value("upstream_rq_active"),
        healthy=value("membership_healthy"),
        endpoints=value("membership_total"),
        latency=latency.get(f"{prefix}.upstream_rq_time", {}),
    )


def quantile(latency: Mapping[Bucket, int], share: float) -> float | None:
    """The latency in ms below which `share` of the answers lie, linear within a bucket; None without answers."""
    rank = share * sum(latency.values())
    if rank <= 0:
        return None
    below = 0
    reached = 0.0
    for (lower, width), count in sorted(latency.items()):
        if count <= 0:
            continue
        reached = lower + width * min(1.0, (rank - below) / count)
        below += count
        if below >= rank:
            break
    return round(reached, 2)


class Window:
    """The readings of the last minute of one Envoy."""

    def __init__(self) -> None:
        self._readings: deque[tuple[float, Mapping[str, Reading]]] = deque()

    def add(self, at: float, readings: Mapping[str, Reading]) -> None:
        """Take in the readings of a moment (seconds, rising) and forget those before the window."""
        self._readings.append((at, readings))
        while len(self._readings) > 2 and self._readings[1][0] <= at - WINDOW_S:
            self._readings.popleft()

    def recent(self, cluster: str) -> dict[str, Any]:
        """What happened on a cluster between the window's first reading and its last."""
        first_at, first = self._readings[0]
        last_at, last = self._readings[-1]
        before = first.get(cluster, Reading()) if len(self._readings) > 1 else Reading()
        after = last.get(cluster, Reading())
        if after.requests < before.requests:
            before = Reading()  # the cluster was dropped and came back: its counts began anew
        latency = {bucket: count - before.latency.get(bucket, 0) for bucket, count in after.latency.items()}
        return {
            "seconds": round(last_at - first_at, 3),
            "requests": after.requests - before.requests,
            "errors_5xx": after.errors_5xx - before.errors_5xx,
            "p50_ms": quantile(latency, 0.5),
            "p95_ms": quantile(latency, 0.95),
        }


def by_service(readings: Mapping[str, Reading], window: Window, draining: Sequence[str]) -> list[dict[str, Any]]:
    """The `services` of `stats.json`: per service and version the counts, and `recent` for the last minute."""
    services: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cluster, reading in readings.items():
        project, service, version = cluster.split("/", 2)
        services.setdefault((project, service), []).append(
            {
                "version": version,
                "requests": reading.requests,
                "errors_5xx": reading.errors_5xx,
                "connect_failures": reading.connect_failures,
                "in_flight": reading.in_flight,
                "healthy_endpoints": reading.healthy,
                "endpoints": reading.endpoints,
                "draining": cluster in draining,
                "recent": window.recent(cluster),
            }
        )
    return [{"project": project, "name": name, "versions": versions} for (project, name), versions in services.items()]
