"""Reports that wait on disk until the server has recorded them, each in a file of its own, oldest first.

A report is written before the place in the kernel's log moves on, and removed after the server's answer: a daemon or
a server that dies at any line loses nothing and says nothing twice. `seq` grows over restarts, even where the
directory was lost, because it is never below the clock's microseconds.
"""

from __future__ import annotations

import fcntl
import os
import time

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUFFIX = ".report"
_MOST_BYTES = 256 << 20


class SpoolHeld(Exception):
    """Another daemon keeps its reports in this directory."""


class Spool:
    """The directory of waiting reports and of what the daemon must remember over a restart."""

    def __init__(self, directory: str, most_bytes: int = _MOST_BYTES) -> None:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        self._directory = directory
        self._most_bytes = most_bytes
        self._lock = os.open(os.path.join(directory, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise SpoolHeld(directory) from error
        self._state_path = os.path.join(directory, "state.json")
        self._sizes = {seq: os.path.getsize(self._path(seq)) for seq in self._on_disk()}
        self.state: dict[str, Any] = self._remembered()

    @property
    def waiting(self) -> int:
        """How many reports wait."""
        return len(self._sizes)

    def put(self, report: dict[str, Any], state: dict[str, Any]) -> int:
        """Keep a report with what is to be remembered once it is kept; its `seq`. Raises OSError: nothing is kept."""
        seq = max(int(self.state.get("seq", 0)) + 1, int(time.time() * 1_000_000))
        remembered = {**self.state, **state, "seq": seq}
        files.write_json(self._path(seq), {**report, "seq": seq, "remembered": remembered})
        self._sizes[seq] = os.path.getsize(self._path(seq))
        self.state = remembered
        files.write_json(self._state_path, remembered)
        self._let_go()
        return seq

    def oldest(self) -> tuple[int, bytes] | None:
        """The report to send next, as it was kept."""
        while self._sizes:
            seq = min(self._sizes)
            try:
                with open(self._path(seq), "rb") as file:
                    return seq, file.read()
            except OSError:
                del self._sizes[seq]
        return None

    def remove(self, seq: int) -> None:
        """The server has recorded this report, or will never take it."""
        self._sizes.pop(seq, None)
        try:
            os.unlink(self._path(seq))
        except OSError:
            return

    def close(self) -> None:
        """Let another daemon have the directory."""
        os.close(self._lock)

    def _remembered(self) -> dict[str, Any]:
        """What was remembered last: by the state's file, or by a report kept just before a crash."""
        try:
            state: dict[str, Any] = files.read_json(self._state_path) or {}
        except ValueError:
            state = {}
        if self._sizes and max(self._sizes) > int(state.get("seq", 0)):
            try:
                state = (files.read_json(self._path(max(self._sizes))) or {}).get("remembered") or state
            except ValueError:
                return state
        return state

    def _let_go(self) -> None:
        """Over the limit the oldest half of what waits is thinned: reports without kernel events go first."""
        while sum(self._sizes.values()) > self._most_bytes and len(self._sizes) > 1:
            candidates = sorted(self._sizes)[: max(1, len(self._sizes) // 2)]
            plain = [seq for seq in candidates if not self._has_events(seq)]
            self.remove((plain or candidates)[0])

    def _has_events(self, seq: int) -> bool:
        try:
            return bool((files.read_json(self._path(seq)) or {}).get("events"))
        except (OSError, ValueError):
            return False

    def _on_disk(self) -> list[int]:
        names = [name[: -len(_SUFFIX)] for name in os.listdir(self._directory) if name.endswith(_SUFFIX)]
        return sorted(int(name) for name in names if name.isdigit())

    def _path(self, seq: int) -> str:
        return os.path.join(self._directory, f"{seq:020d}{_SUFFIX}")
