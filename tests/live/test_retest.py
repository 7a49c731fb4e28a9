"""Nodes tested for real: two ranks of torch on two closed nodes, and a server that is killed while they compute."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live.platform import Platform, opened, wait_for, wait_until

pytestmark = pytest.mark.live


def _retest(house: Platform, *names: str, **wish: Any) -> str:
    made = house.api.call("POST", "retests", json={"nodes": list(names), "project": "nlp"} | wish)
    return str(made["id"])


def _outcome(house: Platform, retest: str) -> dict[str, Any] | None:
    (found,) = (row for row in house.api.call("GET", "retests") if row["id"] == retest)
    return found if found["ended_at"] else None


def _states(house: Platform) -> dict[str, str]:
    return {row["node"]["name"]: row["node"]["state"] for row in house.api.call("GET", "nodes")}


@pytest.fixture
def house() -> Iterator[Platform]:
    """A server of its own: it is killed."""
    with opened() as platform:
        yield platform


def test_two_nodes_compute_and_communicate_and_open_again(house: Platform) -> None:
    wish = {"devices_per_node": 1, "as_reference": True, "seconds": 3}
    retest = _retest(house, "n1", "n2", **wish)
    assert set(_states(house).values()) == {"cordoned"}
    house.kill()
    house.start()
    ended = wait_for(lambda: _outcome(house, retest), "the retest's outcome")
    assert ended["judgement"]["outcome"] == "passed", ended
    speeds = ended["measured"]["speeds"]
    assert set(speeds) == {"matmul_gflop_s", "copy_mb_s", "allreduce_mb_s"}
    assert all(math.isfinite(speed) and speed > 0 for speed in speeds.values())
    wait_until(lambda: set(_states(house).values()) == {"up"}, "both nodes to open")
    (reference,) = house.api.call("GET", "retest-references")
    assert (reference["shape"], reference["speeds"]) == ("local/cpu/2x1/retest@1", speeds)
    history = house.api.call("GET", "nodes/n1/case")["history"]
    assert [fact["kind"] for fact in history][-3:] == ["retest-requested", "retest-ended", "node-changed"]
