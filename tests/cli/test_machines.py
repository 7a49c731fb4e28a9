"""`node cordon`, `node uncordon`, who else uses a node, and what a batch system says of a start."""

import pytest

from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import Stub


@pytest.mark.parametrize(
    ("kind", "words"), [("drained", "drained"), ("reserved", "maintenance"), ("excluded", "left out")]
)
def test_a_cordon_says_how_far_it_goes(stub: Stub, headway: Headway, kind: str, words: str) -> None:
    stub.on("PUT", "/nodes/n1/cordon", {"node": "n1", "kind": kind, "reason": "fan"})
    ran = headway("node", "cordon", "n1", "--reason", "fan")
    assert (ran.code, ran.out) == (0, "")
    assert words in ran.err
    assert stub.asked[0].body == {"reason": "fan"}


def test_a_node_that_the_site_keeps_closed_is_told_with_its_reason(stub: Stub, headway: Headway) -> None:
    stub.on("DELETE", "/nodes/n1/cordon", {"node": "n1", "state": "cordoned", "reason": "site: dusty"})
    assert "site: dusty" in headway("node", "uncordon", "n1").err


def test_top_names_who_else_uses_a_node(stub: Stub, headway: Headway) -> None:
    node = {"name": "n1", "engine": "slurm", "device_type": "h200", "devices": 8, "state": "up", "reason": None}
    others = [{"node": "n1", "devices": 2, "by": "bob", "until": None}]
    stub.on("GET", "/nodes", [{"node": node, "taken": {}, "occupied": others}])
    assert "bob outside Headway [2]" in headway("top").out


@pytest.mark.parametrize(("language", "words"), [("en", "slurm has not started"), ("zh", "slurm 尚未启动")])
def test_why_tells_the_batch_systems_reason(stub: Stub, headway: Headway, language: str, words: str) -> None:
    view = canned.a_view()
    view["job"]["state"] = "starting"
    view["attempt"] |= {"engine": "slurm", "waiting": "ReqNodeNotAvail"}
    stub.on("GET", "/jobs/j-8a0", view)
    told = headway("why", "j-8a0", language=language)
    assert words in told.out
    assert "ReqNodeNotAvail" in told.out
