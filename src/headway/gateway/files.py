"""The gateway's files: moved into place whole, so that no reader ever sees half of one.

Knows names and how to write; never what they say.
"""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

from headway.domain.errors import PlatformError

ROUTES = "routes.json"
APPLIED = "applied.json"
STATUS = "status.json"
STATS = "stats.json"
LOCK = "gateway.lock"
ACCESS_LOG = "access.log"
ENVOY_LOG = "envoy.log"

LOCK_PATIENCE_S = 1.0

Signature = tuple[int, int, int]


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content)
    os.replace(beside, path)


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file atomically."""
    write_bytes(path, json.dumps(value, separators=(",", ":")).encode() + b"\n")


def signature(path: Path) -> Signature | None:
    """What changes whenever the file is replaced or written; None when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def size(path: Path) -> int:
    """Bytes in a file, 0 when there is none."""
    found = signature(path)
    return 0 if found is None else found[2]


def take_lock(directory: Path) -> int:
    """Hold this directory while the returned descriptor is open; raises `gateway-running` when another does."""
    descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    # Who only asks whether a gateway lives holds the lock for a moment: that is no second gateway.
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while not _locks(descriptor) and time.monotonic() < deadline:
        time.sleep(0.02)
    if not _locks(descriptor):
        holder = os.read(descriptor, 32).decode(errors="replace").strip()
        os.close(descriptor)
        raise PlatformError("gateway-running", directory=str(directory), pid=holder or "?")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def _locks(descriptor: int) -> bool:
    # Locking again what this descriptor holds already succeeds.
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
