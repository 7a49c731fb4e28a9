"""`node show`, `node metrics` and `node token`."""

from typing import Any

import pytest

from headway.cli.commands.watching import shown
from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

AT = "2026-12-01T06:00:00Z"
CARDS = [
    {"index": 0, "name": "NVIDIA H200", "bus": "00000000:04:00.0", "health": None},
    {"index": 1, "name": "NVIDIA H200", "bus": "00000000:05:00.0", "health": "Alarm"},
]


def reading(name: str, value: float, device: int | None = None) -> dict[str, Any]:
    return {"name": name, "device": device, "at": AT, "value": value}


LATEST = {
    "node": "n1",
    "maker": "nvidia",
    "driver": "550.54",
    "kernel": "6.1",
    "cards": CARDS,
    "readings": [
        reading("cpu_percent", 12.5),
        reading("device_utilisation_percent", 97.0, 0),
        reading("device_memory_used_bytes", float(70 << 30), 0),
        reading("device_memory_total_bytes", float(140 << 30), 0),
        reading("device_power_watts", 611.4, 0),
        reading("device_error_ecc_uncorrected_volatile", 2.0, 1),
        reading("device_error_last_xid", 0.0, 1),
    ],
}


def point(at: str, value: float, count: int = 1) -> dict[str, Any]:
    return {"at": at, "minimum": value - 1, "mean": value, "maximum": value + 1, "count": count}


def test_a_node_shows_its_cards_with_a_dash_for_what_could_not_be_read(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/nodes/n1/latest", LATEST)
    ran = headway("node", "show", "n1")
    assert ran.code == 0
    first, second = (line.split() for line in ran.out.splitlines() if "H200" in line)
    assert first == ["0", "NVIDIA", "H200", "—", "97", "%", "70.0", "GiB", "/", "140.0", "GiB", "—", "611", "W", "—"]
    assert second == ["1", "NVIDIA", "H200", "Alarm", "—", "—", "/", "—", "—", "—", "ecc_uncorrected_volatile", "2"]
    assert "cpu_percent" not in ran.out
    assert "12.50 %" in headway("node", "show", "n1", "--metrics").out


def test_a_node_whose_daemon_never_told_says_what_to_do(stub: Stub, headway: Headway) -> None:
    silent = {"node": "n1", "maker": None, "driver": None, "kernel": None, "cards": [], "readings": []}
    stub.on("GET", "/nodes/n1/latest", silent)
    assert "headway node token n1" in headway("node", "show", "n1").err


def test_one_measurement_is_compared_across_nodes(stub: Stub, headway: Headway) -> None:
    points = [point(AT, 100.0, 3), point("2026-12-01T06:01:00Z", 300.0, 1)]
    found = [{"node": "n1", "device": 0, "name": "device_power_watts", "points": points}]
    stub.on("GET", "/readings", found)
    ran = headway("node", "metrics", "device_power_watts", "--since", "2h")
    row = ran.out.splitlines()[1].split()
    assert row == ["n1", "0", "300", "W", "99", "W", "150", "W", "301", "W", "4", "12-01", "14:01"]
    assert headway("node", "metrics", "device_power_watts", "--json=node").out.strip().startswith("[")


def test_one_nodes_measurement_is_asked_of_that_node_and_none_is_said(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/nodes/n2/readings", [])
    assert "no node has readings of nope" in headway("node", "metrics", "nope", "--node", "n2").err


def test_a_credential_is_printed_alone_and_can_be_revoked(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/nodes/n1/credential", {"node": "n1", "token": "hwn_1"})
    ran = headway("node", "token", "n1")
    assert ran.out == "hwn_1\n"
    assert "earlier credentials end" in ran.err
    stub.on("DELETE", "/nodes/n1/credential", None)
    assert "nothing more is taken" in headway("node", "token", "n1", "--revoke").err


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("mount_used_bytes:/data", 2048.0, "2.0 KiB"),
        ("network_in_bytes_per_s:ib0", 1024.0, "1.0 KiB/s"),
        ("device_temperature_celsius", 61.0, "61 °C"),
        ("nic_up:ib0", 1.0, "1"),
        ("load_1m", 0.25, "0.25"),
    ],
)
def test_a_value_is_shown_in_the_unit_of_its_name(metric: str, value: float, text: str) -> None:
    assert shown(metric, value) == text
