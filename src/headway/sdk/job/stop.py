"""Hearing that the program should save and leave: `control.json`, written by the agent, and SIGTERM.

Asking is cheap enough for every step. It never decides for the program: it is told, and leaves by itself.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Optional, Tuple

LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class Stop:
    """Save and leave; after `deadline` (UTC, None: not said) the process is killed."""

    reason: str
    deadline: Optional[datetime] = None

    def time_left(self) -> Optional[timedelta]:
        """How long until the process is killed, never negative; None when nobody said."""
        if self.deadline is None:
            return None
        return max(timedelta(0), self.deadline - datetime.now(timezone.utc))


class StopWatch:
    """Looks for a stop; once seen it stays."""

    def __init__(self, control: Optional[Path]) -> None:
        self._control = control
        self._seen: Optional[Tuple[int, int, int]] = None
        self._looked_at = -LOOK_EVERY_S
        self._stop: Optional[Stop] = None
        self._terminated = False
        self._listening = False

    def look(self) -> Optional[Stop]:
        """The stop, if there is one; looks at the file at most every 0.1 s, and reads it only when it has changed."""
        self._listen()
        if self._stop is None:
            now = time.monotonic()
            if self._terminated or now - self._looked_at >= LOOK_EVERY_S:
                self._looked_at = now
                self._stop = self._read() or (Stop("signal") if self._terminated else None)
        return self._stop

    def _listen(self) -> None:
        """From the first look on SIGTERM is a request, as this program answers requests; before it, it still kills."""
        if self._listening or threading.current_thread() is not threading.main_thread():
            return
        self._listening = True
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_sigterm)

    def _on_sigterm(self, _number: int, _frame: object) -> None:
        self._terminated = True

    def _read(self) -> Optional[Stop]:
        if self._control is None:
            return None
        try:
            status = os.stat(self._control)
            seen = (status.st_mtime_ns, status.st_ino, status.st_size)
            if seen == self._seen:
                return None
            order = json.loads(self._control.read_bytes())
        except (OSError, ValueError):
            return None
        self._seen = seen
        return _parse(order)


def _parse(order: object) -> Optional[Stop]:
    if not isinstance(order, dict) or order.get("stop") is not True:
        return None
    deadline = order.get("deadline")
    try:
        until = datetime.fromtimestamp(deadline, timezone.utc) if deadline is not None else None
    except (TypeError, ValueError, OverflowError, OSError):
        until = None
    return Stop(str(order.get("reason") or "stop"), until)
