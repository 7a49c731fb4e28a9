"""What the kernel says about processes: their start, their session, their parents, their environment."""

from __future__ import annotations

import os

from headway.agent import files


class Process:
    """One line of `/proc/P/stat`; `start_ticks` is field 22 and tells two processes of one pid apart."""

    __slots__ = ("parent", "pid", "rss_pages", "session", "start_ticks", "state", "used_ticks")

    def __init__(self, pid: int, fields: list[str]) -> None:
        self.pid = pid
        self.state = fields[0]
        self.parent = int(fields[1])
        self.session = int(fields[3])
        self.used_ticks = int(fields[11]) + int(fields[12])
        self.start_ticks = int(fields[19])
        self.rss_pages = int(fields[21])


def read_process(pid: int) -> Process | None:
    """The process as it is now; None where there is none."""
    text = files.read_text(f"/proc/{pid}/stat")
    if not text:
        return None
    return Process(pid, text[text.rindex(")") + 2 :].split())


def start_ticks(pid: int) -> int:
    """When the process started, in clock ticks since boot; 0 where there is none."""
    process = read_process(pid)
    return process.start_ticks if process else 0


def all_pids() -> list[int]:
    """Every process there is."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read_environment(pid: int) -> dict[str, str]:
    """The environment a process was started with; empty where it may not be read."""
    text = files.read_text(f"/proc/{pid}/environ") or ""
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
