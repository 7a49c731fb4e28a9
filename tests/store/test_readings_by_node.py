"""Series of a node's cards joined to one."""

from datetime import UTC, datetime, timedelta

from headway.store.readings import Point, Series
from headway.store.readings.by_node import by_node

AT = datetime(2026, 11, 2, tzinfo=UTC)


def _series(node: str, card: int, *values: float) -> Series:
    points = [Point(AT + timedelta(minutes=n), value, value, value, 1) for n, value in enumerate(values)]
    return Series("j-1.1", node, None, card, "busy", tuple(points))


def test_a_nodes_cards_become_their_mean_at_each_moment_with_their_bounds() -> None:
    two, one = by_node([_series("n2", 0, 5.0), _series("n1", 0, 10.0, 20.0), _series("n1", 1, 30.0, 20.0, 90.0)])[::-1]
    assert (one.node, one.device, one.name) == ("n1", None, "busy")
    assert [(p.minimum, p.mean, p.maximum, p.count) for p in one.points] == [
        (10.0, 20.0, 30.0, 2),
        (20.0, 20.0, 20.0, 2),
        (90.0, 90.0, 90.0, 1),
    ]
    assert [point.mean for point in two.points] == [5.0]
    assert by_node([]) == []
