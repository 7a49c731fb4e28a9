"""Processes of this machine: started in sessions of their own, known by (pid, start ticks), never by pid alone.

A pid is given to somebody else as soon as its process is gone; the start time in clock ticks tells them apart. Decides
nothing about who should live.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EXEC_TRIES = 50
EXEC_PAUSE_S = 0.002

# Children belong to this process, not to an engine object: each is waited for whoever started it.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Process:
    """One process, for ever: `start_ticks` is field 22 of `/proc/<pid>/stat`."""

    pid: int
    start_ticks: int

    @property
    def is_alive(self) -> bool:
        """Whether it runs; a zombie does not."""
        return find(self.pid) == self

    def send(self, number: signal.Signals) -> bool:
        """Signal exactly this process; False when it is gone. The pidfd is held before the ticks are compared."""
        try:
            fd = os.pidfd_open(self.pid)
        except OSError:
            return False
        try:
            if not self.is_alive:
                return False
            signal.pidfd_send_signal(fd, number)
            return True
        except ProcessLookupError:
            return False
        finally:
            os.close(fd)


def find(pid: int) -> Process | None:
    """The process that has this pid now; None when there is none or only its zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else Process(pid, int(fields[19]))


def start(argv: Sequence[str], env: Mapping[str, str], output: Path) -> Process | None:
    """Start a program in its own session, in `/`, with no descriptor but null and `output` (appended, 0600).

    None: it has ended already. Raises OSError when it cannot be started. Nothing is asked of the child between fork and
    exec that keeps Python from using `vfork`, so that a start costs the same however large the server is.
    """
    fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        child = subprocess.Popen(
            argv,
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=fd,
            stderr=fd,
            close_fds=True,
            start_new_session=True,
        )
    finally:
        os.close(fd)
    _children[child.pid] = child
    return find(child.pid)


def reap() -> None:
    """Wait for children that have ended, so that none stays a zombie."""
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            _children.pop(pid, None)


def marked(attempt: str, node: str) -> list[Process]:
    """Processes whose environment names this attempt and node; never this process itself."""
    wanted = {f"HEADWAY_ATTEMPT={attempt}".encode(), f"HEADWAY_NODE={node}".encode()}
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal() and int(name) != os.getpid() and wanted <= _environment(name):
            process = find(int(name))
            # Read again: the pid may have been given to a stranger between the first reading and the look-up.
            if process and wanted <= _environment(name):
                found.append(process)
    return found


def _environment(pid: str) -> set[bytes]:
    """A process's environment. In the middle of `exec` the kernel shows none for a moment: that is waited out."""
    for _ in range(EXEC_TRIES):
        if content := _read(pid, "environ"):
            return set(content.split(b"\0"))
        if not _is_program(pid) or _has_none(pid):
            return set()
        time.sleep(EXEC_PAUSE_S)
    return set()


def _is_program(pid: str) -> bool:
    """Whether it has a program that we may see: kernel threads, zombies and who is gone have none."""
    try:
        return bool(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False


def _has_none(pid: str) -> bool:
    """Whether its environment is empty, and not merely not there yet.

    `stat` has its bounds in fields 50 and 51, and in field 26 the start of the code, which `exec` sets last.
    """
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return len(fields) > 48 and fields[23] != b"0" and fields[47] == fields[48]


def _read(pid: str, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return b""
