"""Readings of the node and of the attempt on it: processor, memory, disk, network, from `/proc` and cgroup 1 or 2.

Never blocks on a disk: how full a file system is, is asked in a thread, because a dead network disk never answers.
"""

from __future__ import annotations

import _thread
import os

from headway.agent import files
from headway.agent.ranks import cgroup, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SECTOR_BYTES = 512
_PARTITION_KINDS = ("loop", "ram", "zram", "dm-", "md", "sr")


class Rates:
    """Turns counters into rates per second; the first sight of a counter has no rate."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float]] = {}

    def per_second(self, name: str, value: float, clock: float) -> float | None:
        """The rate since the last call for this name; None at first, or where the counter went back."""
        before = self._before.get(name)
        self._before[name] = (value, clock)
        if before is None or clock <= before[1] or value < before[0]:
            return None
        return (value - before[0]) / (clock - before[1])


class Machine:
    """Reads `(name, rank or None, value)`; percentages of one core are 100 per core, of the node 100 in all."""

    def __init__(self, directory: str, cgroups: Sequence[str]) -> None:
        self._rates = Rates()
        self._disk = DiskSpace(directory)
        self._cgroups = cgroups
        self._ticks_per_s = os.sysconf("SC_CLK_TCK")
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")

    def read(self, ranks: Sequence[tuple[int, int]], clock: float) -> list[tuple[str, int | None, float]]:
        """Everything that can be read now. `ranks`: (rank, pid) of those that run; `clock`: monotonic seconds."""
        found: dict[str, float | None] = {}
        found.update(self._processor(clock))
        found.update(read_memory(files.read_text("/proc/meminfo") or ""))
        found.update(self._disk.read())
        found.update(self._flows(clock))
        found.update(self._attempt(clock))
        readings: list[tuple[str, int | None, float]] = [
            (name, None, value) for name, value in found.items() if value is not None
        ]
        for rank, pid in ranks:
            readings += self._rank(rank, pid, clock)
        return readings

    def _processor(self, clock: float) -> dict[str, float | None]:
        text = files.read_text("/proc/stat") or ""
        words = text.partition("\n")[0].split()[1:9]
        if len(words) < 8:
            return {}
        ticks = [int(word) for word in words]
        idle = self._rates.per_second("idle", ticks[3] + ticks[4], clock)
        total = self._rates.per_second("total", sum(ticks), clock)
        busy = None if idle is None or not total else max(0.0, 100 * (1 - idle / total))
        load = (files.read_text("/proc/loadavg") or "0").split()[0]
        return {"cpu_percent": busy, "load_1m": float(load)}

    def _flows(self, clock: float) -> dict[str, float | None]:
        read, written = disk_bytes(files.read_text("/proc/diskstats") or "")
        received, sent = network_bytes(files.read_text("/proc/net/dev") or "")
        counters = {
            "disk_read_bytes_per_s": read,
            "disk_write_bytes_per_s": written,
            "network_in_bytes_per_s": received,
            "network_out_bytes_per_s": sent,
        }
        return {name: self._rates.per_second(name, value, clock) for name, value in counters.items()}

    def _attempt(self, clock: float) -> dict[str, float | None]:
        """What the attempt's own cgroups count, where they count it."""
        found: dict[str, float | None] = {}
        for path in self._cgroups:
            seconds = cgroup.cpu_seconds(path)
            if seconds is not None:
                rate = self._rates.per_second("attempt_cpu", seconds, clock)
                found["attempt_cpu_percent"] = None if rate is None else 100 * rate
            memory = cgroup.memory_bytes(path)
            if memory is not None:
                found["attempt_memory_used_bytes"] = memory
        return found

    def _rank(self, rank: int, pid: int, clock: float) -> list[tuple[str, int | None, float]]:
        process = processes.read_process(pid)
        if process is None:
            return []
        readings: list[tuple[str, int | None, float]] = [
            ("memory_used_bytes", rank, float(process.rss_pages * self._page_bytes))
        ]
        rate = self._rates.per_second(f"rank-{rank}", process.used_ticks / self._ticks_per_s, clock)
        if rate is not None:
            readings.append(("cpu_percent", rank, 100 * rate))
        return readings


class DiskSpace:
    """How full a directory's file system is, as of the last answer."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._asking = False
        self._last: dict[str, float] = {}

    @property
    def asking(self) -> bool:
        """Whether the last question has no answer yet."""
        return self._asking

    def read(self) -> dict[str, float]:
        """The last answer, and a new question unless one is still open."""
        if not self._asking:
            self._asking = True
            _thread.start_new_thread(self._ask, ())
        return self._last

    def _ask(self) -> None:
        try:
            space = os.statvfs(self._directory)
            total = float(space.f_blocks * space.f_frsize)
            self._last = {
                "disk_total_bytes": total,
                "disk_used_bytes": total - space.f_bfree * space.f_frsize,
            }
        except OSError:
            self._last = {}
        self._asking = False


def read_memory(text: str) -> dict[str, float | None]:
    """`/proc/meminfo` as bytes used (total less available) and in all."""
    kib: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            kib[name] = int(words[0])
    if "MemTotal" not in kib or "MemAvailable" not in kib:
        return {}
    return {
        "memory_used_bytes": float((kib["MemTotal"] - kib["MemAvailable"]) * 1024),
        "memory_total_bytes": float(kib["MemTotal"] * 1024),
    }


def disk_bytes(text: str) -> tuple[int, int]:
    """Bytes read and written by all whole disks of a `/proc/diskstats`: no partitions, no layers above disks."""
    read = written = 0
    whole: list[str] = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 10 or fields[2].startswith(_PARTITION_KINDS):
            continue
        if any(fields[2].startswith(disk) and fields[2] != disk for disk in whole):
            continue
        whole.append(fields[2])
        read += int(fields[5]) * _SECTOR_BYTES
        written += int(fields[9]) * _SECTOR_BYTES
    return read, written


def network_bytes(text: str) -> tuple[int, int]:
    """Bytes received and sent by all interfaces of a `/proc/net/dev` but the loopback."""
    received = sent = 0
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        if colon and name.strip() != "lo" and len(fields) >= 9:
            received += int(fields[0])
            sent += int(fields[8])
    return received, sent
