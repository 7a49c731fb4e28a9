"""Requests that no idle cluster of this size could ever meet are refused with the limit."""

import pytest
from hypothesis import given

from headway.domain.errors import Param, PlatformError
from headway.domain.resources import NodeState, Request
from headway.scheduler.admissible import largest_possible
from headway.scheduler.cycle import schedule
from headway.scheduler.snapshot import Snapshot
from tests.builders import a_node, a_request, a_snapshot
from tests.scheduler.clusters import snapshots

NODES = [
    a_node("n1", 8),
    a_node("n2", 8),
    a_node("n3", 4),
    a_node("n4", 16, device_type="910b"),
    a_node("n5", 8, engine="slurm"),
]


@pytest.mark.parametrize(
    ("request_", "params"),
    [
        (a_request(9, 1, ("h200",)), {"field": "devices_per_node", "value": 9, "device_type": "h200", "limit": 8}),
        (a_request(17), {"field": "devices_per_node", "value": 17, "device_type": "910b", "limit": 16}),
        (a_request(8, 3, ("h200",)), {"field": "nodes", "value": 3, "device_type": "h200", "limit": 2}),
        (a_request(1, 4), {"field": "nodes", "value": 4, "device_type": "h200", "limit": 3}),
        (a_request(1, 1, ("h300",)), {"field": "device_types", "value": "h300", "device_type": "h300", "limit": 0}),
    ],
)
def test_an_impossible_request_is_refused_naming_field_value_and_limit(
    request_: Request, params: dict[str, Param]
) -> None:
    with pytest.raises(PlatformError) as refused:
        largest_possible(NODES, request_)
    assert refused.value.code == "impossible-request"
    assert refused.value.params == params | {"types": "910b, h200"}
    assert "910b, h200" in refused.value.hint("zh")


def test_before_any_node_is_known_nothing_is_possible() -> None:
    with pytest.raises(PlatformError, match="impossible-request"):
        largest_possible([], a_request())


@pytest.mark.parametrize(("devices", "types", "most"), [(8, (), 2), (4, ("h200",), 3), (16, (), 1), (1, ("910b",), 1)])
def test_a_possible_request_gets_the_widest_gang(devices: int, types: tuple[str, ...], most: int) -> None:
    assert largest_possible(NODES, a_request(devices, 1, types)) == most


def test_nodes_that_are_down_today_count() -> None:
    assert largest_possible([a_node("n1"), a_node("n2", state=NodeState.DOWN)], a_request(8, 2)) == 2


@given(snapshots())
def test_what_is_admitted_starts_on_an_idle_healthy_cluster_and_what_is_refused_does_not(snapshot: Snapshot) -> None:
    nodes = [
        a_node(node.name, node.devices, engine=node.engine, device_type=node.device_type) for node in snapshot.nodes
    ]
    for job in snapshot.queued:
        plan = schedule(a_snapshot(nodes, [job]))
        try:
            largest_possible(nodes, job.request)
        except PlatformError:
            assert plan.starts == ()
        else:
            assert len(plan.starts) == 1
