"""Nodes, devices, pools and what a job asks of them.

A pool is devices of one type under one engine. A placement gives whole devices, by index, to one attempt.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Maker(StrEnum):
    """Who made a device; `cpu` stands for slots of a machine without accelerators."""

    NVIDIA = "nvidia"
    ASCEND = "ascend"
    CPU = "cpu"


class NodeState(StrEnum):
    """Whether new attempts may be put on a node."""

    UP = "up"
    CORDONED = "cordoned"
    DOWN = "down"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Node:
    """One machine (or virtual node) of an engine, with devices of one type numbered from 0."""

    name: str
    engine: str
    device_type: str
    devices: int
    maker: Maker = Maker.CPU
    state: NodeState = NodeState.UP
    reason: str | None = None
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placement:
    """Devices of one node given to one attempt."""

    node: str
    devices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Occupied:
    """Devices of a node that somebody outside Headway uses. `until`: the end expected by their own limit."""

    node: str
    devices: int
    by: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a job asks for: equal shares of `nodes` nodes, all of one device type.

    `device_types` lists acceptable types in order of preference; empty means any.
    """

    nodes: int = 1
    devices_per_node: int = 1
    ranks_per_node: int = 1
    device_types: tuple[str, ...] = ()

    @property
    def devices(self) -> int:
        return self.nodes * self.devices_per_node

    def accepts(self, device_type: str) -> bool:
        return not self.device_types or device_type in self.device_types
