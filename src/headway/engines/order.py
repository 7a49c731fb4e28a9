"""The agent's `order.json` (`docs/protocol.md` §1) from an engine's launch order, for every engine alike.

A pure function: it touches nothing. What differs between engines (addresses, cards, what makes them visible) is a
`Site`.
"""

import dataclasses
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from headway.domain.resources import Maker
from headway.engines.protocol import LaunchOrder, NodeOrder, UnixUser

PORT = "{port}"
# Without it CUDA numbers cards by speed, and nvidia-smi by bus.
DEVICE_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@dataclass(frozen=True, slots=True)
class Site:
    """One node of an attempt as its engine knows it.

    `cards`: the node's own numbers of the attempt's devices; `visible`: what makes exactly these visible, empty where
    somebody else has seen to it. `master_port`: where ranks meet; `port`: where a service listens (None: no service).
    `user` None: the agent already runs as the right user.
    """

    maker: Maker
    cards: tuple[int, ...]
    master_addr: str
    master_port: int
    port: int | None = None
    visible: dict[str, str] = field(default_factory=dict)
    user: UnixUser | None = None
    ca_file: str | None = None
    readings: timedelta = timedelta(seconds=2)
    report: timedelta = timedelta(seconds=1)


def agent_order(order: LaunchOrder, index: int, site: Site) -> dict[str, Any]:
    """What the agent of node `index` is told, but for its cgroups."""
    part = order.nodes[index]
    return {
        "attempt": order.attempt,
        "job": order.job,
        "number": order.number,
        "node": part.node,
        "node_rank": index,
        "node_count": len(order.nodes),
        "server": order.server_url,
        "ca_file": site.ca_file,
        "launcher": str(order.launcher),
        "command": [_with_port(word, site) for word in order.command],
        "workdir": order.workdir,
        "env": {**(DEVICE_ORDER if site.maker is Maker.NVIDIA else {}), **_env(order, site)},
        "ranks": _ranks(part, site.cards),
        "world_size": order.world_size,
        "master_addr": site.master_addr,
        "master_port": site.master_port,
        "visible_devices": site.visible,
        "device_maker": str(site.maker),
        "devices": list(site.cards),
        "user": dataclasses.asdict(site.user) if site.user else None,
        "grace_s": order.grace.total_seconds(),
        "log_limits": dataclasses.asdict(order.log_limits),
        "readings_s": site.readings.total_seconds(),
        "report_s": site.report.total_seconds(),
        "checkpoint_dir": order.checkpoint_dir,
        "resume_from": order.resume_from,
        "port": site.port if index == 0 else None,
    }


def share(cards: tuple[int, ...], index: int, count: int) -> tuple[int, ...]:
    """The `index`-th of `count` even shares; where there are fewer cards than shares, neighbours use one together."""
    first = index * len(cards) // count
    return cards[first : max(first + 1, (index + 1) * len(cards) // count)]


def _env(order: LaunchOrder, site: Site) -> dict[str, str]:
    return {name: _with_port(value, site) for name, value in order.env.items()}


def _with_port(word: str, site: Site) -> str:
    """`{port}` stands for the port a service listens on: the engine chooses it, and only now."""
    return word if site.port is None else word.replace(PORT, str(site.port))


def _ranks(part: NodeOrder, cards: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        {"rank": rank, "local_rank": local, "devices": list(share(cards, local, len(part.ranks)))}
        for local, rank in enumerate(part.ranks)
    ]
