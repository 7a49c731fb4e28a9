"""The network as the ranks have it: links by their own namespace, and connections whose peer does not answer."""

from __future__ import annotations

import os
import socket
import struct
import sys

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headway.agent.ranks.processes import Process

_MOST_LINKS, _MOST_SOCKETS = 32, 256
_ESTABLISHED, _SYN_SENT = "01", "02"


def links(trees: Mapping[int, list[Process]]) -> list[dict[str, Any]]:
    """Every interface that a rank can see but the loopback, once a namespace."""
    found: list[dict[str, Any]] = []
    spaces: dict[str, list[int]] = {}
    roots: dict[str, int] = {}
    for rank, processes in trees.items():
        if processes and (space := _space(processes[0].pid)):
            spaces.setdefault(space, []).append(rank)
            roots[space] = processes[0].pid
    for space, ranks in spaces.items():
        found += [{**link, "ranks": ranks} for link in _links(roots[space])[:_MOST_LINKS]]
    return found


def sockets(trees: Mapping[int, list[Process]]) -> list[dict[str, Any]]:
    """The ranks' TCP connections to their peers: addresses, bytes not yet acknowledged, retransmissions under way."""
    found: list[dict[str, Any]] = []
    for rank, processes in trees.items():
        inodes: set[str] = set()
        for process in processes:
            inodes |= _inodes(process.pid)
        for name in ("tcp", "tcp6"):
            text = files.read_text(f"/proc/{processes[0].pid}/net/{name}") if processes else None
            found += [{"rank": rank, **one} for one in read_tcp(text or "", inodes)]
    return found[:_MOST_SOCKETS]


def read_tcp(text: str, inodes: set[str]) -> list[dict[str, Any]]:
    """Connections of a `/proc/net/tcp` or `tcp6` that belong to these inodes."""
    found = []
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) < 10 or words[3] not in (_ESTABLISHED, _SYN_SENT) or words[9] not in inodes:
            continue
        found.append(
            {
                "local": address(words[1]),
                "remote": address(words[2]),
                "unanswered_bytes": int(words[4].partition(":")[0], 16),
                "retransmits": int(words[6], 16),
            }
        )
    return found


def address(word: str) -> str:
    """`0100007F:1F90` as `127.0.0.1:8080`; an IPv4 address mapped into IPv6 as IPv4."""
    host, _, port = word.partition(":")
    order = "<" if sys.byteorder == "little" else ">"
    words = [int(host[at : at + 8], 16) for at in range(0, len(host), 8)]
    raw = b"".join(struct.pack(f"{order}I", one) for one in words)
    if len(raw) == 16 and raw[:12] == b"\0" * 10 + b"\xff\xff":
        raw = raw[12:]
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    return f"{socket.inet_ntop(family, raw)}:{int(port, 16)}"


def _links(pid: int) -> list[dict[str, Any]]:
    base = os.path.join(f"/proc/{pid}/root", "sys/class/net")
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return []
    return [_link(base, name) for name in names if name != "lo"]


def _link(base: str, name: str) -> dict[str, Any]:
    def read(what: str) -> str:
        return (files.read_text(f"{base}/{name}/{what}") or "").strip()

    changes = read("carrier_changes")
    return {"name": name, "state": read("operstate"), "changes": int(changes) if changes.isdigit() else None}


def _space(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _inodes(pid: int) -> set[str]:
    """The sockets that a process holds."""
    held = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if target.startswith("socket:["):
                held.add(target[8:-1])
    except OSError:
        pass
    return held
