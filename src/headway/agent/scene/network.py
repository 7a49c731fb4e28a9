"""The network as the ranks have it: links by their own namespace, connections whose peer does not answer, and whether
the hosts of their peers answer at all.

A host is asked by a connection to a port on which nobody listens: a refusal is an answer, silence is none.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import sys
import time

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headway.agent.ranks.processes import Process

_MOST_LINKS, _MOST_SOCKETS = 32, 256
_ESTABLISHED, _SYN_SENT = "01", "02"
_DISCARD = 9
_MOST_HOSTS = 64
_PATIENCE_S = 2.0


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


def reach(trees: Mapping[int, list[Process]], connections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whether each peer's host answers, as seen from where the rank is; the addresses are those of its connections."""
    found: list[dict[str, Any]] = []
    for rank, processes in trees.items():
        mine = [one for one in connections if one["rank"] == rank]
        own = {_host(one["local"]) for one in mine}
        hosts = sorted({_host(one["remote"]) for one in mine} - own)[:_MOST_HOSTS]
        if hosts and processes and _enter(processes[0].pid):
            try:
                answering = _answering(hosts)
                found += [{"rank": rank, "host": host, "answers": host in answering} for host in hosts]
            finally:
                _enter(os.getpid())
    return found


def _answering(hosts: list[str]) -> set[str]:
    """Those that accept or refuse a connection within two seconds."""
    asked = {}
    answered = set()
    for host in hosts:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        one = socket.socket(family, socket.SOCK_STREAM)
        one.setblocking(False)
        problem = one.connect_ex((host, _DISCARD))
        if problem == errno.ECONNREFUSED:
            answered.add(host)
        asked[one] = host
    deadline = time.monotonic() + _PATIENCE_S
    waiting = set(asked)
    while waiting and (left := deadline - time.monotonic()) > 0:
        for one in select.select([], list(waiting), [], left)[1]:
            waiting.discard(one)
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in (0, errno.ECONNREFUSED):
                answered.add(asked[one])
    for one in asked:
        one.close()
    return answered


def _enter(pid: int) -> bool:
    """This thread goes where the process is in the network; whether it is there."""
    there, here = _space(pid), _space_of_thread()
    if there is None or there == here:
        return there is not None
    try:
        import ctypes

        space = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        try:
            return bool(ctypes.CDLL(None).setns(space, 0) == 0)
        finally:
            os.close(space)
    except (ImportError, OSError, AttributeError):
        return False


def _host(end: str) -> str:
    return end.rpartition(":")[0]


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


def _space_of_thread() -> str | None:
    try:
        return os.readlink("/proc/thread-self/ns/net")
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
