"""First-hand exit records: code, signal, core, kill for want of memory, and the program's own error file."""

from __future__ import annotations

import json
import os
import signal

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ERROR_FILE_BYTES = 256 << 10


def record_exit(rank: int, status: int, at: float) -> dict[str, Any]:
    """The Exit of a rank whose wait status is `status`, before anything else is known about it."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    return {
        "rank": rank,
        "at": at,
        "code": None if number else os.WEXITSTATUS(status),
        "signal": number,
        "signal_name": signal_name(number) if number else None,
        "core": os.WCOREDUMP(status),
        "oom_kill": False,
        "stopped_by_us": False,
        "error": None,
    }


def unwitnessed(rank: int, at: float) -> dict[str, Any]:
    """The Exit of a rank whose end nobody saw: neither code nor signal."""
    return {**record_exit(rank, 0, at), "code": None}


def went_badly(exit_record: dict[str, Any]) -> bool:
    """Whether a rank ended with anything but code 0."""
    return bool(exit_record["code"] != 0)


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; `SIG40` where the platform has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def read_error(rank_dir: str, owner: int | None) -> dict[str, Any] | None:
    """What the program left in `error.json`: torch's layout or a plain one. None: nothing readable."""
    raw = files.read_foreign(os.path.join(rank_dir, "error.json"), owner, 0, _ERROR_FILE_BYTES)
    try:
        entry = json.loads(raw) if raw else None
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    inner = entry.get("message")
    if not isinstance(inner, dict):
        inner = entry
    extra = inner.get("extraInfo")
    if not isinstance(extra, dict):
        extra = {}
    return {
        "message": str(inner.get("message", "")),
        "callstack": extra.get("py_callstack", inner.get("callstack")),
        "timestamp": _seconds(extra.get("timestamp", inner.get("timestamp"))),
    }


def _seconds(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None
