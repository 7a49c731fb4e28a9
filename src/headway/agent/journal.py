"""The agent's own log: JSON lines in `agent.log`, bounded in size. Never holds the token or what a rank printed."""

from __future__ import annotations

import json
import os
import time

from headway.agent import files

_MAX_BYTES = 4 << 20


class Journal:
    """Appends entries; past its ceiling the file becomes `agent.log.1` and a new one begins."""

    def __init__(self, path: str, max_bytes: int = _MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._fd = -1
        self._size = 0

    def note(self, event: str, **fields: object) -> None:
        """Append one entry; a full disk never stops the agent."""
        line = json.dumps({"t": round(time.time(), 3), "event": event, **fields}, default=str) + "\n"
        try:
            self._open()
            self._size += os.write(self._fd, line.encode())
        except OSError:
            return

    def _open(self) -> None:
        if self._fd >= 0 and self._size < self._max_bytes:
            return
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            os.replace(self._path, self._path + ".1")
        mode = files.own_mode(os.path.dirname(self._path))
        self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
        self._size = os.fstat(self._fd).st_size
