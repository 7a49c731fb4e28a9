"""Card tools' print-outs against the truth beside them, and the machine's own files."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from headway.agent.printouts.cards import Card
from headway.agent.printouts.values import number
from headway.agent.probes import ascend, nvidia
from headway.agent.probes.machine import Machine, Rates, disk_bytes, network_bytes, read_memory
from headway.agent.ranks import cgroup
from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer, wait_for


def test_nvidia_csv_is_read_and_what_could_not_be_read_gives_no_reading(shared: Path) -> None:
    text = (shared / "data" / "probes" / "nvidia" / "nvidia-smi-csv-01.txt").read_text()
    cards = nvidia.parse(text)
    assert [len(card.readings()) for card in cards] == [4, 4, 3, 3, 3]
    assert dict(cards[0].readings())["device_memory_used_bytes"] == 6 * 1048576


def test_error_counters_are_readings_too() -> None:
    card = Card(0)
    card.count("ecc_uncorrected_volatile", "3")
    assert card.readings() == [("device_error_ecc_uncorrected_volatile", 3.0)]


def test_a_print_out_of_something_else_holds_no_cards() -> None:
    for text in ("", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", "| a | b |\n"):
        assert nvidia.parse(text) == []
        assert ascend.parse(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("24.87 W", 24.87), ("56631/", 56631), ("-", None), ("[Unknown Error]", None), ("", None), ("ERR!", None)],
)
def test_a_field_is_a_number_or_nothing(text: str, value: float | None) -> None:
    assert number(text) == value


def test_memory_disk_and_network_are_read_from_proc() -> None:
    assert read_memory("MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 40 kB\n") == {
        "memory_used_bytes": 60 * 1024,
        "memory_total_bytes": 100 * 1024,
    }
    disks = (
        "8 0 sda 1 0 10 0 1 0 20 0 0 0 0\n8 1 sda1 1 0 10 0 1 0 20 0 0 0 0\n"
        "253 0 dm-0 1 0 10 0 1 0 20 0 0 0 0\n259 0 nvme0n1 1 0 1 0 1 0 2 0 0 0 0\n"
    )
    assert disk_bytes(disks) == (11 * 512, 22 * 512)
    network = "Inter-| Receive\n face |bytes\n    lo: 5 0 0 0 0 0 0 0 5 0\n  eth0:100 0 0 0 0 0 0 0 200 0\n"
    assert network_bytes(network) == (100, 200)


def test_a_counter_that_went_back_has_no_rate() -> None:
    rates = Rates()
    assert rates.per_second("a", 10, 1.0) is None
    assert rates.per_second("a", 30, 2.0) == 20
    assert rates.per_second("a", 5, 3.0) is None
    assert rates.per_second("a", 6, 4.0) == 1


def test_this_machine_and_this_process_can_be_read(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path), [])
    found: dict[tuple[str, int | None], float] = {}

    def read() -> bool:
        found.update({(name, rank): value for name, rank, value in machine.read([(0, os.getpid())], time.monotonic())})
        return ("cpu_percent", None) in found and ("disk_used_bytes", None) in found

    wait_for(read, "rates")
    assert 0 <= found["cpu_percent", None] <= 100
    assert found["memory_used_bytes", None] < found["memory_total_bytes", None]
    assert found["memory_used_bytes", 0] > 1 << 20


@pytest.mark.parametrize(
    ("files", "kills", "seconds", "memory"),
    [
        (
            {
                "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
                "cpuacct.usage": "2500000000\n",
                "memory.usage_in_bytes": "4096\n",
            },
            2,
            2.5,
            4096,
        ),
        (
            {
                "memory.events": "low 0\noom 1\noom_kill 1\n",
                "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
                "memory.current": "8192\n",
            },
            1,
            1.5,
            8192,
        ),
        ({}, 0, None, None),
    ],
)
def test_both_versions_of_cgroups_are_read(
    tmp_path: Path, files: dict[str, str], kills: int, seconds: float | None, memory: float | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert cgroup.oom_kills(str(tmp_path)) == kills
    assert cgroup.cpu_seconds(str(tmp_path)) == seconds
    assert cgroup.memory_bytes(str(tmp_path)) == memory


def test_a_card_tool_on_the_path_gives_readings_of_the_attempts_own_cards(
    node: Node, server: WitnessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(
        "#!/bin/sh\necho 'index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W]'\n"
        'for i in 0 1 2; do echo "$i, NVIDIA H200, 9$i %, 10 MiB, 143771 MiB, [N/A]"; done\n'
    )
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    node.write_order("sleep", "100", device_maker="nvidia", devices=[1, 2], readings_s=0.1)
    node.start()

    def seen():
        return {
            (one["name"], one["device"]): one["value"] for one in list(server.readings) if one["device"] is not None
        }

    wait_for(lambda: len(seen()) >= 6, "readings of two cards")
    assert {device for _, device in seen()} == {1, 2}
    assert seen()["device_utilisation_percent", 2] == 92
    assert not any(name == "device_power_watts" for name, _ in seen())


def test_a_card_tool_that_hangs_never_holds_up_the_end(
    node: Node, server: WitnessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "npu-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexec sleep 1000\n")
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    node.run("sleep", "0.5", device_maker="ascend", devices=[0], readings_s=0.1)
    assert server.exits[0]["code"] == 0
