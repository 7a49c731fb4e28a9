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


def take(path: Path) -> int | None:
    """Hold a lock for as long as the returned descriptor is open; None when somebody else has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
