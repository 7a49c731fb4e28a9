"""`node cases`, `node case`, `node retest`, `incident ls`."""

import io
import json
from typing import Any

import pytest

from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

NODE = {"name": "n1", "engine": "local", "state": "cordoned", "device_type": "h200", "devices": 8, "reason": "retest"}
SUSPICION = {"score": 0.91, "level": "suspect", "rate": 0.0301, "norm": 0.005}
CASE = {
    "node": NODE,
    "record": {"faults": 3, "days": 12.0},
    "suspicion": SUSPICION,
    "attempts": 14,
    "cordon": {"reason": "retest", "until": None, "needs_retest": True},
}
BLAME = {"at": "2026-11-20T08:00:00Z", "node": "n1", "fault": "GPU_ECC", "device": 3, "job": "j-1"}
JUDGEMENT: dict[str, Any] = {
    "outcome": "failed",
    "findings": [{"name": "matmul_gflop_s", "measured": 51.0, "reference": 100.0}],
    "wrong": ["copy"],
}
RETEST = {"id": "r-1", "job": "j-9", "nodes": ["n1"], "requested_at": "2026-11-21T08:00:00Z", "judgement": JUDGEMENT}


def test_nodes_are_listed_beside_their_norm(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/cases", [CASE])
    shown = headway("node", "cases").out
    assert "suspect 91%" in shown
    assert "0.1" in shown
    assert json.loads(headway("node", "cases", "--json=attempts").out) == [{"attempts": 14}]


def test_a_case_says_what_counts_and_what_does_not(stub: Stub, headway: Headway) -> None:
    faults = [{"blame": BLAME, "counts": True, "why": None}, {"blame": BLAME, "counts": False, "why": "at-once"}]
    cards = [{"device": 3, "record": {"faults": 1, "days": 12.0}, "suspicion": SUSPICION}]
    stub.on(
        "GET", "/nodes/n1/case", {"case": CASE, "faults": faults, "cards": cards, "history": [], "retests": [RETEST]}
    )
    shown = headway("node", "case", "n1").out
    for words in (
        "opens after a passed retest",
        "card 3: 1 faults",
        "several cards at once",
        "matmul_gflop_s 51/100",
        "copy",
    ):
        assert words in shown
    assert "复测通过后恢复" in headway("node", "case", "n1", language="zh").out


def test_a_retest_is_asked_for_and_its_id_goes_to_stdout(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/retests", RETEST)
    ran = headway("node", "retest", "n1", "--project", "infra", "--devices", "4", "--as-reference")
    assert ran.out == "r-1\n"
    assert "j-9" in ran.err
    sent = stub.asked[0].body
    assert sent == {"nodes": ["n1"], "project": "infra", "devices_per_node": 4, "as_reference": True}


def test_incidents_say_what_was_shared_and_what_it_cost(stub: Stub, headway: Headway) -> None:
    incident = {
        "kind": "switch",
        "name": "s1",
        "began": "2026-11-20T08:00:00Z",
        "last": "2026-11-20T08:10:00Z",
        "failures": [{}, {}],
        "is_open": True,
    }
    row = {"incident": incident, "jobs": ["j-1", "j-2"], "nodes": ["n1", "n2"], "idle_device_seconds": 7200.4}
    stub.on("GET", "/incidents", [row])
    shown = headway("incident", "ls").out
    for words in ("switch s1", "still", "j-1,j-2", "7,200 device-seconds"):
        assert words in shown


def test_a_channels_secret_may_come_through_a_pipe(
    stub: Stub, headway: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.on("PUT", "/channels/ops", {"name": "ops", "kind": "json://…"})
    monkeypatch.setattr("sys.stdin", io.StringIO("json://127.0.0.1/secret\n"))
    ran = headway("channel", "set", "ops")
    assert "secret" not in ran.out + ran.err
    assert stub.asked[0].body["url"] == "json://127.0.0.1/secret"  # type: ignore[index]


def test_what_stood_beside_an_attempt_is_said_line_by_line(stub: Stub, headway: Headway) -> None:
    hour = {"began": "2026-11-03T12:00:00Z", "ended": "2026-11-03T13:00:00Z"}
    beside = {
        "since": hour["began"],
        "until": hour["ended"],
        "neighbours": [
            {"node": "n1", "devices": [4, 5], "job": "j-2", "mount": None, **hour},
            {"node": "n7", "devices": [0], "job": None, "mount": "store:/data", **hour, "ended": None},
        ],
        "words": [{"at": hour["began"], "node": "n1", "kind": "kernel", "text": "nfs: server store not responding"}],
        "engine": [{"node": "n1", "text": "first\nsrun: error: task 0: Killed\n"}],
        "measures": [{"node": "n1", "name": "nic_up:eth0", "minimum": 0.0, "mean": 0.5, "maximum": 1.0}],
    }
    stub.on("GET", "/jobs/j-1/beside", beside)
    said = headway("beside", "j-1").out
    for words in ("n1 [4,5] j-2, ", "n7 [0] a job of another project, ", "to now, on the same store:/data"):
        assert words in said
    for words in ("nfs: server store not responding", "  srun: error: task 0: Killed", "nic_up:eth0"):
        assert words in said
