"""Readings of what surrounds the cards: mounts that fill or do not answer, network interfaces, InfiniBand ports.

A reading of one mount or interface has its name behind a colon (`mount_used_bytes:/data`). Never blocks on a disk.
"""

from __future__ import annotations

import os

from headway.agent import files
from headway.agent.probes.machine import DiskSpace, Rates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

Readings = list[tuple[str, float]]
_SILENT_S = 10.0
_MOST_INTERFACES = 32
_PASSING = ("lo", "veth", "docker", "br-", "cali", "flannel", "cni", "tap", "tun", "dummy", "ifb", "sit", "ip6tnl")
_PORT_COUNTERS = {
    "link_downed": "ib_link_downed",
    "symbol_error": "ib_symbol_errors",
    "port_rcv_errors": "ib_receive_errors",
    "link_error_recovery": "ib_link_recoveries",
}
_LANE_BYTES = 4  # port data counters count words of four bytes


class Mounts:
    """How full each directory's file system is, and whether it answers within ten seconds."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._spaces = {path: DiskSpace(path) for path in paths}
        self._asked_at: dict[str, float] = {}

    def read(self, clock: float) -> Readings:
        """What is known now. `clock`: monotonic seconds."""
        found: Readings = []
        for path, space in self._spaces.items():
            if not space.asking:
                self._asked_at[path] = clock
            silent = clock - self._asked_at.setdefault(path, clock) > _SILENT_S
            for name, value in space.read().items():
                found.append((f"{name.replace('disk_', 'mount_')}:{path}", value))
            found.append((f"mount_answers:{path}", 0.0 if silent else 1.0))
        return found


class Network:
    """Interfaces and InfiniBand ports from `/sys/class`. `root` stands for `/sys/class` in tests."""

    def __init__(self, root: str = "/sys/class") -> None:
        self._root = root
        self._rates = Rates()

    def read(self, clock: float) -> Readings:
        """Whether each is up, what flows, and what its error counters say."""
        found: Readings = []
        for name in self._names("net")[:_MOST_INTERFACES]:
            if not name.startswith(_PASSING):
                found += self._interface(name, clock)
        for device in self._names("infiniband"):
            for port in self._names(f"infiniband/{device}/ports"):
                found += self._port(device, port, clock)
        return found

    def _interface(self, name: str, clock: float) -> Readings:
        state = self._text(f"net/{name}/operstate")
        found: Readings = [] if state is None else [(f"nic_up:{name}", 0.0 if state == "down" else 1.0)]
        for counter, reading in (("rx_bytes", "network_in_bytes_per_s"), ("tx_bytes", "network_out_bytes_per_s")):
            found += self._rate(f"{reading}:{name}", self._number(f"net/{name}/statistics/{counter}"), clock)
        for path, reading in (("statistics/rx_errors", "nic_receive_errors"), ("carrier_down_count", "nic_link_downs")):
            count = self._number(f"net/{name}/{path}")
            if count is not None:
                found.append((f"{reading}:{name}", count))
        return found

    def _port(self, device: str, port: str, clock: float) -> Readings:
        at, place = f"infiniband/{device}/ports/{port}", f"{device}/{port}"
        state = self._text(f"{at}/state")
        found: Readings = [] if state is None else [(f"ib_port_up:{place}", 1.0 if "ACTIVE" in state else 0.0)]
        for counter, reading in _PORT_COUNTERS.items():
            count = self._number(f"{at}/counters/{counter}")
            if count is not None:
                found.append((f"{reading}:{place}", count))
        for counter, reading in (("port_rcv_data", "ib_in_bytes_per_s"), ("port_xmit_data", "ib_out_bytes_per_s")):
            words = self._number(f"{at}/counters/{counter}")
            found += self._rate(f"{reading}:{place}", None if words is None else words * _LANE_BYTES, clock)
        return found

    def _rate(self, name: str, value: float | None, clock: float) -> Readings:
        rate = None if value is None else self._rates.per_second(name, value, clock)
        return [] if rate is None else [(name, rate)]

    def _names(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(os.path.join(self._root, path)))
        except OSError:
            return []

    def _text(self, path: str) -> str | None:
        text = files.read_text(os.path.join(self._root, path))
        return None if text is None else text.strip()

    def _number(self, path: str) -> float | None:
        text = self._text(path)
        return float(text) if text is not None and text.isdigit() else None
