"""Asks file systems how full they are, in a process of its own that is killed when its time is up.

A dead network disk may never answer, and whoever asks it may not even be killed before it does: the agent, which has
to outlive that, never asks by itself. The process is forked, not started: Python itself may lie on the dead disk.
"""

from __future__ import annotations

import _thread
import json
import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

PATIENCE_S = 2.0
_MOST_DESCRIPTORS = 65536


def ask(places: Sequence[str], patience_s: float = PATIENCE_S) -> dict[str, dict[str, Any]]:
    """What each place answered in time: `real` path, sizes in bytes, or the `problem`. Silent ones are left out."""
    fd, output = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(fd)
        os.close(output)
        return {}
    if not pid:
        _answer_all(places, output, patience_s)
    os.close(output)
    raw = _read(fd, time.monotonic() + patience_s)
    os.close(fd)
    _let_go(pid)
    answers = [json.loads(line) for line in raw.splitlines(keepends=True) if line.endswith(b"\n")]
    return {answer.pop("path"): answer for answer in answers}


def _read(fd: int, deadline: float) -> bytes:
    chunks = []
    while (left := deadline - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        chunk = os.read(fd, 65536)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)


def _let_go(pid: int) -> None:
    """Kill it; the agent reaps whatever has ended, this too, whenever that is."""
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)
    except (ProcessLookupError, ChildProcessError):
        return


def _answer_all(places: Sequence[str], output: int, patience_s: float) -> None:
    """In the child: one thread a place, one line an answer. Never returns."""
    try:
        os.setsid()
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, patience_s + 1.0)
        os.dup2(output, 3)
        os.closerange(4, _MOST_DESCRIPTORS)
        asked = [(place, _thread.allocate_lock()) for place in places]
        for place, lock in asked:
            lock.acquire()
            _thread.start_new_thread(_answer, (place, lock))
        for _, lock in asked:
            lock.acquire()
    finally:
        os._exit(0)


def _answer(place: str, lock: _thread.LockType) -> None:
    answer: dict[str, Any] = {"path": place}
    try:
        answer["real"] = os.path.realpath(place)
        space = os.statvfs(place)
        answer["total_bytes"] = space.f_blocks * space.f_frsize
        answer["free_bytes"] = space.f_bavail * space.f_frsize
        answer["free_files"] = space.f_favail
    except OSError as error:
        answer["problem"] = error.strerror
    os.write(3, json.dumps(answer).encode() + b"\n")
    lock.release()
