"""Whether another process lives: by the lock it holds, never by a pid alone, which may be anybody's by now."""

import fcntl
import os
from pathlib import Path


def is_held(path: Path) -> bool:
    """Whether a living process holds this lock file; a missing file is held by nobody."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def holder(path: Path) -> int | None:
    """The pid that whoever holds this lock wrote into it; None before it has."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def take(path: Path) -> int | None:
    """Hold a lock, our pid in it, for as long as the returned descriptor is open; None when somebody else has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor
