"""Decides what this agent is for: to start the attempt, to tell of one that died, or only to deliver what is left.

`begun` is made before any rank starts, under the lock: whoever finds it never starts ranks again.
"""

from __future__ import annotations

import fcntl
import os
import time

from headway.agent import files
from headway.agent.journal import Journal
from headway.agent.order import Order, OrderError, read_order
from headway.agent.ranks import exits, processes, remains
from headway.agent.witness import Witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEFT = 3


def run(directory: str) -> int:
    """Be the agent of a node directory; 0 when nothing is left to do, LEFT: to deliver. Raises OrderError."""
    directory = os.path.abspath(directory)
    lock = _lock(directory)
    if lock is None:
        return 0
    final_path = os.path.join(directory, "final.json")
    journal = Journal(os.path.join(directory, "agent.log"))
    final = files.read_json(final_path)
    if final is not None and final["delivered"]:
        return 0
    try:
        order = read_order(directory)
        token = _read_token(directory)
    except OrderError as error:
        if final is None:
            _refuse(final_path, str(error), journal)
        raise
    witness = Witness(order, token, directory, journal)
    if final is None and _begin(directory):
        witness.begin()
    else:
        if final is None:
            final = _bury(order, directory, witness.ends(), journal)
            files.write_json(final_path, final)
        witness.tell_end(final)
    done = witness.loop()
    came_to = {"delivered": True} if done else {"at": time.time(), "left": True}
    files.write_json(final_path, {**files.read_json(final_path), **came_to})
    return 0 if done else LEFT


def _lock(directory: str) -> int | None:
    """Hold `agent.lock` for the life of this process; None when another agent does. Raises OrderError."""
    try:
        mode = files.own_mode(directory)
        fd = os.open(os.path.join(directory, "agent.lock"), os.O_RDWR | os.O_CREAT, mode)
        if os.fstat(fd).st_uid == os.geteuid():
            os.fchmod(fd, mode)  # whatever the user's mask is
    except OSError as error:
        raise OrderError(f"{directory} is no node directory: {error.strerror}") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    pid = os.getpid()
    os.ftruncate(fd, 0)
    os.pwrite(fd, f'{{"pid":{pid},"start_ticks":{processes.start_ticks(pid)}}}'.encode(), 0)
    return fd


def _begin(directory: str) -> bool:
    """Whether this agent is the first of the attempt, and so may start its ranks."""
    try:
        os.close(os.open(os.path.join(directory, "begun"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    return True


def _read_token(directory: str) -> str:
    path = os.path.join(directory, "token")
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError) as error:
        raise OrderError(f"{path} cannot be read: {type(error).__name__}") from error


def _refuse(final_path: str, detail: str, journal: Journal) -> None:
    """An order that cannot be carried out is an end, and the engine must be able to see it."""
    journal.note("order-refused", detail=detail)
    end = {"at": time.time(), "reason": "start-failed", "detail": detail, "logs": {}}
    files.write_json(final_path, {**end, "exits": [], "delivered": False})


def _bury(order: Order, directory: str, ends: dict[str, int], journal: Journal) -> dict[str, Any]:
    """The agent before this one died: kill what it left and write down the end, with what it saw of the exits."""
    started = files.read_json(os.path.join(directory, "ranks.json")) or []
    seen = files.read_json(os.path.join(directory, "exits.json")) or []
    stubborn = remains.kill(order, started)
    at = time.time()
    known = {record["rank"] for record in seen}
    unknown = [exits.unwitnessed(entry["rank"], at) for entry in started if entry["rank"] not in known]
    owner = order.user.uid if order.user else None
    for record in unknown:
        record["error"] = exits.read_error(os.path.join(directory, f"rank-{record['rank']}"), owner)
    journal.note("agent-lost", unknown_exits=len(unknown), would_not_die=[process.pid for process in stubborn])
    end = {"at": at, "reason": "agent-lost", "detail": None, "logs": ends}
    return {**end, "exits": [*seen, *unknown], "delivered": False}
