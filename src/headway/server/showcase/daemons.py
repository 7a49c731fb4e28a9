"""The daemons of the nodes, played: what every node measures, with or without a job, and what its kernel says."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from headway.domain.resources import Node
from headway.server.node_wire import NodeReport
from headway.server.operations.nodes.node_reports import take
from headway.server.platform import Platform

SAMPLE = timedelta(hours=2)
CLOSE = timedelta(hours=6)
MEMORY = 85_899_345_920.0
MODELS = {"nvidia": ("550.90.07", "NVIDIA H800"), "ascend": ("24.1.rc2", "Ascend 910B")}


class Daemons:
    """One a node; `busy` tells the percent of each card that computes."""

    def __init__(self, platform: Platform, nodes: tuple[Node, ...], since: datetime, ends: datetime) -> None:
        self._platform, self._nodes = platform, nodes
        self._sampled, self._ends = since, ends
        self._seq = 0

    def introduce(self, now: datetime) -> None:
        """Every daemon says what its node is made of."""
        for node in self._nodes:
            driver, model = MODELS[node.maker]
            cards = [
                {"index": n, "name": model, "bus": f"0000:{0x11 + 16 * n:02x}:00.0", "health": "ok"}
                for n in range(node.devices)
            ]
            made = {"maker": node.maker, "driver": driver, "kernel": "5.15.0-113-generic", "cores": 128, "cards": cards}
            self._send(node, now, inventory=made)

    def report(self, now: datetime, busy: Mapping[tuple[str, int], float]) -> None:
        """What every node measures: now and then long ago, at every look close to the present."""
        if now - self._sampled < SAMPLE and self._ends - now > CLOSE:
            return
        self._sampled = now
        for node in self._nodes:
            if node.state == "up":
                self._send(node, now, readings=_measured(node, now, busy))

    def says(self, node: str, now: datetime, kind: str, text: str, **more: Any) -> None:
        """The kernel of a node reports a fault."""
        found = next(known for known in self._nodes if known.name == node)
        self._send(found, now, events=[{"t": now.timestamp(), "kind": kind, "text": text, **more}])

    def _send(self, node: Node, now: datetime, **parts: Any) -> None:
        self._seq += 1
        told = {"seq": self._seq, "at": now.timestamp(), "engine": node.engine, **parts}
        take(self._platform, node.name, NodeReport.model_validate(told))


def _measured(node: Node, at: datetime, busy: Mapping[tuple[str, int], float]) -> list[dict[str, Any]]:
    chance = Random(f"{node.name}{int(at.timestamp())}")
    uses = [busy.get((node.name, device), 0.0) for device in range(node.devices)]
    mean = sum(uses) / len(uses)
    rows: list[tuple[str, int | None, float]] = [
        ("cpu_percent", None, 2.0 + mean / 4 + chance.random()),
        ("memory_used_bytes", None, 6e10 + mean * 4e9),
        ("memory_total_bytes", None, 1.08e12),
        ("disk_used_bytes", None, 2.1e12),
        ("disk_read_bytes_per_s", None, mean * 6e6 * (0.6 + chance.random())),
        ("disk_write_bytes_per_s", None, mean * 8e5 * (0.6 + chance.random())),
        ("network_in_bytes_per_s", None, mean * 1.1e8 * (0.9 + 0.2 * chance.random())),
        ("network_out_bytes_per_s", None, mean * 1.1e8 * (0.9 + 0.2 * chance.random())),
    ]
    for device, use in enumerate(uses):
        shown = max(0.0, min(100.0, chance.gauss(use, 2.0))) if use else 0.0
        rows += [
            ("device_utilisation_percent", device, shown),
            ("device_memory_used_bytes", device, 0.88 * MEMORY if use else 0.6e9),
            ("device_temperature_celsius", device, 31 + shown * 0.36 + chance.random()),
            ("device_power_watts", device, 82 + shown * 5.6),
        ]
    return [{"t": at.timestamp(), "name": name, "device": device, "value": round(v, 2)} for name, device, v in rows]
