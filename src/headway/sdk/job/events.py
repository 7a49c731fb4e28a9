"""What a rank says of itself: one JSON line an event, appended by a single write of at most 4096 bytes.

Saying must never stop or slow the training: whatever goes wrong here becomes one line on stderr, once.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union

MAX_LINE = 4096
Number = Union[int, float, str]


class EventLog:
    """Appends events to a file; many processes may share a folder, never a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: Optional[int] = None
        self._torn = False
        self._complained = False

    def write(self, kind: str, **fields: object) -> None:
        """Append one event stamped with the time now; never raises."""
        try:
            self._append(encode_line({"t": time.time(), "kind": kind, **fields}))
        except Exception as error:
            if not self._complained:
                self._complained = True
                complain(f"progress is not recorded: {error!r}")

    def _append(self, line: bytes) -> None:
        if self._fd is None:
            self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if self._torn:  # a full disk cut the line before this one: end it, so that only that one is lost
            line = b"\n" + line[: MAX_LINE - 1]
        self._torn = os.write(self._fd, line) < len(line)


class PrintedEvents:
    """The offline twin: the same events as lines for a person on stderr."""

    def __init__(self, rank: int, world_size: int) -> None:
        self._prefix = f"[headway rank {rank}]" if world_size > 1 else "[headway]"

    def write(self, kind: str, **fields: object) -> None:
        """Print one event; never raises."""
        try:
            if kind == "progress":
                said = _progress_text(fields)
            else:
                said = " ".join([kind, *(f"{name}={value}" for name, value in fields.items())])
            print(f"{self._prefix} {said}", file=sys.stderr, flush=True)
        except Exception:  # a closed stderr leaves nowhere to say it
            return


def complain(message: str) -> None:
    """One line on stderr; never raises."""
    try:
        print(f"[headway] {message}", file=sys.stderr, flush=True)
    except Exception:
        return


def encode_line(event: Mapping[str, object]) -> bytes:
    """The event as one line; what makes it longer than 4096 bytes is left out, metrics first, then cut text."""
    line = _dump(event)
    if len(line) > MAX_LINE:
        line = _dump({name: value for name, value in event.items() if name != "metrics"})
    if len(line) > MAX_LINE:
        line = _dump({name: _cut(value) for name, value in event.items() if name != "metrics"})
    return line


def numbers(metrics: Mapping[str, object]) -> Dict[str, Number]:
    """Metrics as JSON numbers; what JSON lacks as "NaN", "Infinity", "-Infinity"; what is no number is left out."""
    found: Dict[str, Number] = {}
    for name, value in metrics.items():
        try:
            number = value if type(value) is int else float(_detached(value))
        except Exception:
            continue
        found[name] = number if math.isfinite(number) else _named(number)
    return found


def _detached(value: Any) -> Any:
    """A loss still tied to its graph, which torch warns about when it is read as a number, without it."""
    return value.detach() if hasattr(value, "detach") else value


def _named(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _dump(event: Mapping[str, object]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _cut(value: object) -> object:
    return value[:500] if isinstance(value, str) else value


def _progress_text(fields: Mapping[str, object]) -> str:
    total, metrics = fields.get("total"), fields.get("metrics")
    step = f"step {fields.get('step')}" + (f"/{total}" if total is not None else "")
    told = metrics.items() if isinstance(metrics, dict) else ()
    return " ".join(
        [step, *(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in told)]
    )
