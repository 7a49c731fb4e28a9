"""Slurm's nodes as Headway's: one for each node and GRES type, with the site's own state and reason. Pure.

A node the site has drained is cordoned, with the site's words. Driver facts are the agent's business.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from headway.domain.resources import Maker, Node, NodeState
from headway.engines.slurm.hostlist import expand

DOWN = frozenset({"DOWN", "FAIL", "POWERED_DOWN", "POWERING_DOWN", "INVALID", "INVALID_REG", "FUTURE"})
CLOSED = frozenset({"DRAIN", "MAINTENANCE", "MAINT", "FAILING", "REBOOT_REQUESTED", "REBOOT_ISSUED", "BLOCKED"})
# Slurm says DOWN itself when a node has not responded for long enough.
UNSEEN = frozenset({"UNKNOWN", "NOT_RESPONDING"})


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """One GRES type of one Slurm node. `gres`: its GRES name (`gpu`, `npu`); `memory` in MiB for the whole node."""

    name: str
    host: str
    address: str
    gres: str
    device_type: str
    typed: bool
    devices: int
    host_devices: int
    cpus: int
    memory: int
    state: NodeState
    reason: str | None
    partitions: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    maker: Maker = Maker.NVIDIA
    responds: bool = True

    def node(self, engine: str) -> Node:
        """The node as everybody else sees it."""
        kind, count = self.device_type, self.devices
        return Node(self.name, engine, kind, count, self.maker, self.state, self.reason, dict(self.labels))


def read_nodes(text: str, switches: Mapping[str, str], makers: Mapping[str, Maker]) -> tuple[SlurmNode, ...]:
    """Read `scontrol show node --oneliner`. Nodes without any GRES are not Headway's: they are left out."""
    return tuple(node for line in text.splitlines() if line.strip() for node in _read_node(line, switches, makers))


@dataclass(frozen=True, slots=True)
class Partition:
    """A Slurm partition. `max_time` None: no limit."""

    name: str
    is_default: bool
    max_time: timedelta | None


def read_partitions(text: str) -> tuple[Partition, ...]:
    """Read `scontrol show partition --oneliner`."""
    rows = [dict(word.partition("=")[::2] for word in line.split()) for line in text.splitlines() if line.strip()]
    return tuple(
        Partition(row["PartitionName"], row.get("Default") == "YES", read_duration(row.get("MaxTime", "")))
        for row in rows
    )


def read_duration(text: str) -> timedelta | None:
    """`2-00:30:00`, `01:00:00`; None for UNLIMITED and the like."""
    found = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+)(?::(\d+))?", text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def read_switches(text: str) -> dict[str, str]:
    """Host → its leaf switch, from `scontrol show topology`."""
    leaves = {}
    for line in text.splitlines():
        pairs = dict(word.partition("=")[::2] for word in line.split())
        if pairs.get("Level") == "0":
            leaves.update({host: pairs["SwitchName"] for host in expand(pairs.get("Nodes", ""))})
    return leaves


def _read_node(line: str, switches: Mapping[str, str], makers: Mapping[str, Maker]) -> Iterable[SlurmNode]:
    head, _, reason = line.partition(" Reason=")
    pairs = dict(word.partition("=")[::2] for word in head.split() if "=" in word)
    host, gres = pairs["NodeName"], _read_gres(pairs.get("Gres", ""))
    state, why = _state(pairs.get("State", ""), re.sub(r"\s*\[[^\]]*\]\s*$", "", reason).strip() or None)
    labels = {"features": pairs.get("ActiveFeatures", ""), "switch": switches.get(host, "")}
    for name, kind, count in gres:
        yield SlurmNode(
            name=host if len(gres) == 1 else f"{host}-{kind or name}",
            host=host,
            address=pairs.get("NodeAddr", host),
            gres=name,
            device_type=kind or name,
            typed=bool(kind),
            devices=count,
            host_devices=sum(each for _, _, each in gres),
            cpus=int(pairs.get("CPUEfctv", pairs.get("CPUTot", "1"))),
            memory=int(pairs.get("RealMemory", "1")) - int(pairs.get("MemSpecLimit", "0")),
            state=state,
            reason=why,
            partitions=tuple(pairs.get("Partitions", "").split(",")),
            labels={key: value for key, value in labels.items() if value and value != "(null)"},
            maker=makers.get(kind or name) or maker_of(name, kind),
            responds=not re.search(r"\*|NOT_RESPONDING", pairs.get("State", "")),
        )


def _read_gres(text: str) -> list[tuple[str, str, int]]:
    """`gpu:h200:8(S:0-1),npu:910b:4` → name, type, count; only accelerators."""
    found = []
    for word in re.sub(r"\([^)]*\)", "", text).split(","):
        name, _, rest = word.partition(":")
        kind, _, count = rest.rpartition(":")
        if name in ("gpu", "npu") and count.isdecimal() and int(count):
            found.append((name, kind, int(count)))
    return found


def maker_of(gres: str, kind: str) -> Maker:
    """Who makes a GRES type, by its name."""
    ascend = gres == "npu" or re.match(r"(?i)ascend|(huawei-?)?910|davinci", kind)
    return Maker.ASCEND if ascend else Maker.NVIDIA


def _state(text: str, reason: str | None) -> tuple[NodeState, str | None]:
    """`IDLE*+DRAIN` → the worst of its words. `*`: not responding; `$`, `@`, `^`, `#`, `~`, `%`, `!`: see sinfo(1)."""
    words = set(re.split(r"\+", re.sub(r"[*$@^#~%!-]+$", "", text.replace("*", "+NOT_RESPONDING"))))
    words.discard("")
    if words & DOWN:
        return NodeState.DOWN, reason or text.lower()
    if words & CLOSED:
        return NodeState.CORDONED, reason or text.lower()
    return (NodeState.UNKNOWN, reason or text.lower()) if words & UNSEEN or not words else (NodeState.UP, None)
