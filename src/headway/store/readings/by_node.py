"""Many series of a node as one: what its cards or ranks measured at a moment, together. Decides nothing else."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from headway.store.readings.port import Point, Series


def by_node(found: Iterable[Series]) -> list[Series]:
    """One series a node, without rank or device: the mean of what was measured at each moment, and its bounds."""
    nodes: dict[str, list[Series]] = defaultdict(list)
    for series in found:
        nodes[series.node].append(series)
    return [_joined(node, nodes[node]) for node in sorted(nodes)]


def _joined(node: str, several: Sequence[Series]) -> Series:
    moments: dict[datetime, list[Point]] = defaultdict(list)
    for series in several:
        for point in series.points:
            moments[point.at].append(point)
    points = tuple(_mean(at, moments[at]) for at in sorted(moments))
    return Series(several[0].attempt, node, None, None, several[0].name, points)


def _mean(at: datetime, points: Sequence[Point]) -> Point:
    count = sum(point.count for point in points)
    mean = sum(point.mean * point.count for point in points) / count
    return Point(at, min(point.minimum for point in points), mean, max(point.maximum for point in points), count)
