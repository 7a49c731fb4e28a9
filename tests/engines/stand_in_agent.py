"""A small agent for tests of the engine's own part: the node directory of `docs/protocol.md` §1, and no server.

`stand_in_agent.py run DIR`. On a directory that has begun it starts nothing and says that the first agent died.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def main(directory: str) -> int:
    os.chdir(directory)
    lock = os.open("agent.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    os.ftruncate(lock, 0)
    os.write(lock, json.dumps({"pid": os.getpid(), "start_ticks": ticks(os.getpid())}).encode())
    with open("order.json") as file:
        order = json.load(file)
    try:
        os.close(os.open("begun", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not os.path.exists("final.json"):
            write("final.json", {"at": time.time(), "reason": "agent-lost", "exits": [], "delivered": True})
        return 0
    for path in order["cgroup"] or ():
        with open(os.path.join(path, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))
    return run(order)


def run(order: "dict[str, Any]") -> int:
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(time.monotonic()))
    stopped: list[float] = []
    ranks = [start(order, entry) for entry in order["ranks"]]
    told = False
    while any(rank.poll() is None for rank in ranks):
        if stopped and not told:
            told = True
            send(ranks, signal.SIGTERM)
        if stopped and time.monotonic() > stopped[0] + order["grace_s"]:
            send(ranks, signal.SIGKILL)
        time.sleep(0.01)
    exits = [{"rank": order["ranks"][i]["rank"], "code": rank.returncode} for i, rank in enumerate(ranks)]
    reason = "stopped" if stopped else "exited"
    write("final.json", {"at": time.time(), "reason": reason, "exits": exits, "delivered": True})
    return 0


def start(order: "dict[str, Any]", entry: "dict[str, Any]") -> "subprocess.Popen[bytes]":
    env = dict(os.environ, HEADWAY_ATTEMPT=order["attempt"], HEADWAY_NODE=order["node"], RANK=str(entry["rank"]))
    env.update(order["env"])
    libc = ctypes.CDLL(None)
    return subprocess.Popen(
        order["command"], env=env, start_new_session=True, preexec_fn=lambda: libc.prctl(1, signal.SIGKILL)
    )


def send(ranks: "list[subprocess.Popen[bytes]]", number: int) -> None:
    for rank in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(rank.pid, number)


def ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[19])


def write(name: str, value: "dict[str, Any]") -> None:
    with open(name + ".new", "w") as file:
        json.dump(value, file)
    os.rename(name + ".new", name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
