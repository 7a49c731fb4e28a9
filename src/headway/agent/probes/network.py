"""What network tools print: ports with their state and speed, and counters by name. Holds no cards."""

from __future__ import annotations

import re

from headway.agent.printouts import values
from headway.agent.probes.port import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SYSFS = re.compile(r"^(?:\S*/)?infiniband/([^/]+)/ports/(\d+)/(.+?):\s?(.*)$", re.MULTILINE)


def read_counters(text: str) -> dict[str, Any]:
    """`name: number` lines of `ethtool -S`, `name:....number` lines of `perfquery`."""
    counters = {}
    for line in text.splitlines():
        found = re.match(r"\s*([A-Za-z][\w\[\]. -]*?)\s*:\s*\.*\s*(-?\d+)\s*$", line)
        if found is not None and found.group(1) not in ("PortSelect", "CounterSelect", "AllPortSelect"):
            counters[found.group(1).rstrip(".")] = int(found.group(2))
    return {"counters": counters}


def read_ibstat(text: str) -> dict[str, Any]:
    """Every port of every adapter of `ibstat`."""
    ports: list[dict[str, Any]] = []
    device = kind = None
    for line in text.splitlines():
        adapter = re.match(r"\s*CA '([^']+)'", line)
        port = re.match(r"\s*Port (\d+):\s*$", line)
        key, _, value = (part.strip() for part in line.partition(":"))
        if adapter is not None:
            device, kind = adapter.group(1), None
        elif port is not None:
            ports.append(_port(device, int(port.group(1)), kind))
        elif key == "CA type":
            kind = value or None
        elif ports:
            _tell(ports[-1], key, value)
    return {"ports": ports}


def _port(device: str | None, number: int, kind: str | None) -> dict[str, Any]:
    empty = dict.fromkeys(("state", "physical_state", "rate_gbps", "link_layer"))
    return {"device": device, "port": number, **empty, "type": kind}


def _tell(port: dict[str, Any], key: str, value: str) -> None:
    names = {
        "State": "state",
        "Physical state": "physical_state",
        "Link layer": "link_layer",
        "link_layer": "link_layer",
    }
    if key in names:
        port[names[key]] = value or None
    elif key == "Rate":
        port["rate_gbps"] = values.number(value)


def read_ibstatus(text: str) -> dict[str, Any]:
    """Every port of `ibstatus`; a state keeps its number, as printed."""
    ports: list[dict[str, Any]] = []
    names = {"state": "state", "phys state": "physical_state", "link_layer": "link_layer"}
    for line in text.splitlines():
        head = re.match(r"Infiniband device '([^']+)' port (\d+) status", line)
        key, _, value = (part.strip() for part in line.partition(":"))
        if head is not None:
            ports.append(_port(head.group(1), int(head.group(2)), None))
        elif ports and key in names:
            ports[-1][names[key]] = value
        elif ports and key == "rate":
            ports[-1]["rate_gbps"] = values.number(value)
    return {"ports": ports}


def read_sysfs(text: str) -> dict[str, Any]:
    """`path: value` lines of `/sys/class/infiniband`."""
    ports: dict[tuple[str, str], dict[str, Any]] = {}
    names = {"link_layer": "link_layer", "phys_state": "physical_state", "state": "state"}
    for device, number, path, value in _SYSFS.findall(text):
        port = ports.setdefault((device, number), {"device": device, "port": int(number), "counters": {}})
        folder, _, name = path.rpartition("/")
        if folder in ("counters", "hw_counters"):
            amount = values.number(value)
            if amount is not None:
                port["counters"][name] = amount
        elif path == "rate":
            rate = values.number(value)
            port["rate_gbps"] = None if rate is None else float(rate)
        elif path in names:
            port[names[path]] = value.strip()
    return {"ports": list(ports.values())}


def read_rdma(text: str) -> dict[str, Any]:
    """`rdma link`: a line a port."""
    pattern = r"link (?:\d+/\d+: )?([^\s/]+)/(\d+) .*?state (\S+) physical_state (\S+)(?:.*?netdev (\S+))?"
    return {
        "ports": [
            {
                "device": device,
                "port": int(number),
                "state": state,
                "physical_state": physical,
                "netdev": netdev or None,
            }
            for device, number, state, physical, netdev in re.findall(pattern, text)
        ]
    }


def read_links(text: str) -> dict[str, Any]:
    """`ip link`: a line an interface."""
    pattern = r"^\d+: ([^:@\s]+)(?:@\S+)?: <([^>]*)>.*?state (\w+)"
    return {
        "ports": [
            {"device": device, "state": state, "physical_state": "LinkUp" if "LOWER_UP" in flags.split(",") else "Down"}
            for device, flags, state in re.findall(pattern, text, re.MULTILINE)
        ]
    }


def read_ethtool(text: str) -> dict[str, Any]:
    """`ethtool NAME`: its speed and whether a link is detected."""
    ports = []
    for name, rest in re.findall(r"^Settings for (\S+?):\s*$((?:\n[ \t]+.*)*)", text, re.MULTILINE):
        speed = re.search(r"Speed:\s*(\d+)Mb/s", rest)
        link = re.search(r"Link detected:\s*(\w+)", rest)
        rate = values.whole(int(speed.group(1)) / 1000) if speed else None
        state = {"yes": "Up", "no": "Down"}.get(link.group(1)) if link else None
        ports.append({"device": name, "state": state, "rate_gbps": rate, "link_layer": "Ethernet"})
    return {"ports": ports}


def read_netdevs(text: str) -> dict[str, Any]:
    """`ibdev2netdev`: a line a port."""
    pattern = r"^(\S+) port (\d+) ==> (\S+) \((\w+)\)"
    return {
        "ports": [
            {"device": device, "port": int(number), "state": state, "netdev": netdev}
            for device, number, netdev, state in re.findall(pattern, text, re.MULTILINE)
        ]
    }


def read_devinfo(text: str) -> dict[str, Any]:
    """`ibv_devinfo`: every port of every adapter; a state keeps its number, as printed."""
    ports: list[dict[str, Any]] = []
    device = None
    for line in text.splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "hca_id":
            device = value
        elif key == "port" and value.isdigit():
            ports.append(_port(device, int(value), None))
        elif ports and key in ("state", "link_layer"):
            ports[-1][key] = value
    return {"ports": ports}


def read_hccn(text: str) -> dict[str, Any]:
    """`hccn_tool -i N -link -g`: whether an NPU's own port is up."""
    states = re.findall(r"link status\s*:\s*(\w+)", text, re.IGNORECASE)
    numbers = re.findall(r"(?:-i|dev(?:ice)?(?:_id)?[ :=]*)\s*(\d+)", text)
    devices: list[str | None] = [*numbers, *([None] * len(states))]
    return {"ports": [{"device": device, "state": state} for device, state in zip(devices, states)]}  # noqa: B905


READERS = (
    Reader("ibstat", r"^\s*CA '", read_ibstat),
    Reader("ibstatus", r"^Infiniband device '", read_ibstatus),
    Reader("sys-class-infiniband", r"infiniband/[^/]+/ports/\d+/", read_sysfs),
    Reader("ibdev2netdev", r"^\S+ port \d+ ==> ", read_netdevs),
    Reader("ibv_devinfo", r"^hca_id:", read_devinfo),
    Reader("rdma-link", r"^link \S+/\d+ ", read_rdma),
    Reader("ip-link", r"^\d+: \S+: <[A-Z,_-]*>", read_links),
    Reader("hccn_tool", r"link status\s*:", read_hccn),
    Reader("perfquery", r"^# Port (?:extended )?counters|^\w+:\.{3,}\d", read_counters),
    Reader("ethtool", r"^NIC statistics:|^\s+[\w\[\]. ]+:\s*\d+\s*$", read_counters),
    Reader("ethtool-link", r"^Settings for ", read_ethtool),
)
