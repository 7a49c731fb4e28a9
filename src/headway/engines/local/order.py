"""The agent's `order.json` from an engine's launch order. A pure function: it touches nothing."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from headway.domain.resources import Maker
from headway.engines.local.discover import LocalNode
from headway.engines.local.settings import LocalSettings
from headway.engines.protocol import LaunchOrder, NodeOrder

VISIBLE = {Maker.NVIDIA: "CUDA_VISIBLE_DEVICES", Maker.ASCEND: "ASCEND_RT_VISIBLE_DEVICES"}
PORT = "{port}"
# Without it CUDA numbers cards by speed, and nvidia-smi by bus.
DEVICE_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@dataclass(frozen=True, slots=True)
class Meeting:
    """What an attempt's nodes share: where ranks meet, and where a service listens (None: no service)."""

    master_port: int
    port: int | None


def node_order(
    order: LaunchOrder, index: int, node: LocalNode, meeting: Meeting, settings: LocalSettings
) -> dict[str, Any]:
    """What the agent of node `index` is told, but for its cgroups. Devices are the machine's own numbers."""
    part = order.nodes[index]
    cards = tuple(node.cards[device] for device in part.devices)
    variable = VISIBLE.get(node.maker)
    return {
        "attempt": order.attempt,
        "job": order.job,
        "number": order.number,
        "node": part.node,
        "node_rank": index,
        "node_count": len(order.nodes),
        "server": order.server_url,
        "ca_file": settings.ca_file,
        "launcher": str(order.launcher),
        "command": [_with_port(word, meeting) for word in order.command],
        "workdir": order.workdir,
        "env": {**(DEVICE_ORDER if node.maker is Maker.NVIDIA else {}), **_env(order, meeting)},
        "ranks": _ranks(part, cards),
        "world_size": order.world_size,
        "master_addr": settings.host,
        "master_port": meeting.master_port,
        "visible_devices": {variable: ",".join(map(str, cards))} if variable else {},
        "device_maker": str(node.maker),
        "devices": list(cards),
        "user": dataclasses.asdict(order.user) if order.user else None,
        "grace_s": order.grace.total_seconds(),
        "log_limits": dataclasses.asdict(order.log_limits),
        "readings_s": settings.readings.total_seconds(),
        "report_s": settings.report.total_seconds(),
        "checkpoint_dir": order.checkpoint_dir,
        "resume_from": order.resume_from,
        "port": meeting.port if index == 0 else None,
    }


def _env(order: LaunchOrder, meeting: Meeting) -> dict[str, str]:
    return {name: _with_port(value, meeting) for name, value in order.env.items()}


def _with_port(word: str, meeting: Meeting) -> str:
    """`{port}` stands for the port a service listens on: the engine chooses it, and only now."""
    return word if meeting.port is None else word.replace(PORT, str(meeting.port))


def _ranks(part: NodeOrder, cards: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        {"rank": rank, "local_rank": local, "devices": list(share(cards, local, len(part.ranks)))}
        for local, rank in enumerate(part.ranks)
    ]


def share(cards: tuple[int, ...], index: int, count: int) -> tuple[int, ...]:
    """The `index`-th of `count` even shares; where there are fewer cards than shares, neighbours use one together."""
    first = index * len(cards) // count
    return cards[first : max(first + 1, (index + 1) * len(cards) // count)]
