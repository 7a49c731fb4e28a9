"""Cards, mounts and networks as the daemon measures them, and the words it is started with."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from headway.agent.node.cards import Cards, address, find_maker
from headway.agent.node.options import OptionError, parse
from headway.agent.node.surroundings import Mounts, Network
from headway.agent.probes import sampler
from tests.agent.probes.scoring import PRINTOUTS
from tests.agent.witness_server import wait_for


def put_tool(folder: Path, name: str, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def seen(cards: Cards) -> list[tuple[float, int, str, float]]:
    found: list[tuple[float, int, str, float]] = []

    def read() -> bool:
        found.extend(cards.read(time.monotonic(), time.time()))
        return bool(found)

    wait_for(read, "the card tool's answer")
    return found


def test_the_maker_is_found_by_its_tool_and_its_cards_are_read(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_tool(tmp_path / "bin", "npu-smi", f"cat {PRINTOUTS}/ascend/npu-smi-04.txt", monkeypatch)
    assert find_maker() == "ascend"
    cards = Cards(None, frozenset({1, 2}), None)
    assert not cards.known
    readings = seen(cards)
    cards.close()
    assert {card for _, card, _, _ in readings} == {1, 2}
    inventory = cards.inventory()
    assert inventory is not None
    assert [(card["index"], card["health"]) for card in inventory["cards"]] == [(1, "Warning"), (2, "Alarm")]
    assert cards.index_at("9f:00.0") == 1
    assert Cards("ascend", None, inventory).index_at("0000:99:00") == 2


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("0000:9b:00", (0, 0x9B, 0)),
        ("00000000:9B:00.0", (0, 0x9B, 0)),
        ("9b:00.0", (0, 0x9B, 0)),
        ("00007C52:00:00.0", (0x7C52, 0, 0)),
        ("eth0", None),
        (None, None),
    ],
)
def test_an_address_is_the_same_however_it_is_written(written: str | None, place: object) -> None:
    assert address(written) == place


def test_a_node_without_cards_has_none_and_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    cards = Cards(None, None, None)
    assert (cards.maker, cards.known, cards.read(0.0, 0.0), cards.inventory()) == ("cpu", True, [], None)


def test_a_tool_that_hangs_is_ended_with_all_it_started_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "_PATIENCE_S", 0.3)
    mark = tmp_path / "pid"
    put_tool(tmp_path / "bin", "cnmon", f"sleep 1000 & echo $! > {mark}; wait", monkeypatch)
    cards = Cards("cambricon", None, None)

    def told() -> bool:
        assert cards.read(time.monotonic(), time.time()) == []
        return cards.hangs

    wait_for(told, "the tool is given up")
    cards.close()
    child = int(mark.read_text())
    wait_for(lambda: not Path(f"/proc/{child}").exists() or _is_zombie(child), "the tool's child is gone")


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def test_mounts_tell_their_space_and_whether_they_answer(tmp_path: Path) -> None:
    mounts = Mounts([str(tmp_path), "/no/such/mount"])
    wait_for(lambda: f"mount_used_bytes:{tmp_path}" in dict(mounts.read(1.0)), "the space of a mount")
    found = dict(mounts.read(2.0))
    assert found[f"mount_answers:{tmp_path}"] == 1.0
    assert found[f"mount_total_bytes:{tmp_path}"] >= found[f"mount_used_bytes:{tmp_path}"] > 0
    assert "mount_used_bytes:/no/such/mount" not in found


def test_a_mount_that_never_answers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = Mounts([str(tmp_path)])
    (space,) = mounts._spaces.values()
    monkeypatch.setattr(space, "_asking", True)
    mounts.read(0.0)
    assert dict(mounts.read(5.0))[f"mount_answers:{tmp_path}"] == 1.0
    assert dict(mounts.read(11.0))[f"mount_answers:{tmp_path}"] == 0.0


def test_interfaces_and_infiniband_ports_are_read_from_sysfs(tmp_path: Path) -> None:
    files = {
        "net/ib0/operstate": "up",
        "net/ib0/statistics/rx_bytes": "1000",
        "net/ib0/statistics/tx_bytes": "5",
        "net/ib0/statistics/rx_errors": "2",
        "net/ib0/carrier_down_count": "3",
        "net/eth1/operstate": "down",
        "net/veth12/operstate": "down",
        "infiniband/mlx5_0/ports/1/state": "1: DOWN",
        "infiniband/mlx5_0/ports/1/counters/link_downed": "255",
        "infiniband/mlx5_0/ports/1/counters/port_rcv_data": "100",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    network = Network(str(tmp_path))
    network.read(0.0)
    (tmp_path / "net/ib0/statistics/rx_bytes").write_text("3000\n")
    (tmp_path / "infiniband/mlx5_0/ports/1/counters/port_rcv_data").write_text("350\n")
    found = dict(network.read(10.0))
    assert found["nic_up:ib0"] == 1.0
    assert found["nic_up:eth1"] == 0.0
    assert found["network_in_bytes_per_s:ib0"] == 200.0
    assert (found["nic_receive_errors:ib0"], found["nic_link_downs:ib0"]) == (2.0, 3.0)
    assert (found["ib_port_up:mlx5_0/1"], found["ib_link_downed:mlx5_0/1"]) == (0.0, 255.0)
    assert found["ib_in_bytes_per_s:mlx5_0/1"] == 100.0
    assert not any("veth" in name for name in found)


def test_the_words_of_the_command_are_checked_one_by_one(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("hwn_1\n")
    good = ["--server", "http://h:1", "--token-file", str(token)]
    options = parse([*good, "--mount=/a", "--mount", "/b", "--devices", "0,3", "--every", "2"])
    assert (options.token, options.mounts, options.devices) == ("hwn_1", ("/a", "/b"), frozenset({0, 3}))
    assert options.node == os.uname().nodename
    wrong = {
        ("--server", "h:1", "--token-file", str(token)): "invalid",
        ("--token-file", str(token)): "missing",
        ("--server", "http://h"): "missing",
        ("--server", "http://h", "--token-file", "/no/such"): "unreadable",
        (*good, "--every", "0"): "invalid",
        (*good, "--every", "soon"): "invalid",
        (*good, "--maker", "acme"): "invalid",
        (*good, "--devices", "a"): "invalid",
        (*good, "--node", "a/b"): "invalid",
        (*good, "--what", "x"): "unknown",
        (*good, "--node"): "missing",
    }
    for words, code in wrong.items():
        with pytest.raises(OptionError) as caught:
            parse(words)
        assert caught.value.code == code


def test_what_a_maker_tells_only_when_asked_is_asked_in_turn(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of two cards with two chips each; each NPU's memory errors name neither the chip's physical id."""
    errors = "\\tNPU ID : $6\\n\\tChip Count : 2\\n" + "".join(
        f"\\tHBM Double Bit Error Count : {count}\\n\\tChip ID : {chip}\\n" for chip, count in ((0, 0), (1, 5))
    )
    table = f"cat {PRINTOUTS}/ascend/npu-smi-04.txt"
    body = f'case "$3" in\necc) printf "{errors}" ;;\nhealth) echo "unknown" ;;\n*) {table} ;;\nesac'
    put_tool(tmp_path / "bin", "npu-smi", body.replace("$6", "$5"), monkeypatch)
    cards = Cards("ascend", None, None)
    found: dict[tuple[int, str], float] = {}

    def all_told() -> bool:
        for _, card, name, value in cards.read(time.monotonic(), time.time()):
            found[card, name] = value
        return {card for card, name in found if name == "device_error_ecc_double_bit"} == {0, 1, 2, 3}

    wait_for(all_told, "the memory errors of every chip")
    cards.close()
    assert [found[card, "device_error_ecc_double_bit"] for card in range(4)] == [0, 5, 0, 5]
    assert found[2, "device_power_watts"] == 164.2
