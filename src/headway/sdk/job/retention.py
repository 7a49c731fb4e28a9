"""Which checkpoints go once a newer one is there: verified ones beyond the newest few, and never the last good one.

A damaged one neither counts nor goes: it is evidence.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Optional, Set

from headway.sdk.job.checkpoint import Checkpoint, checkpoint_folders, verify
from headway.sdk.job.disk import Disk
from headway.sdk.job.lease import REMOVED


def _is_read(folder: Path) -> bool:
    """Whether somebody reads it under a lock now: it goes the next time."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(fd)
    return False


class Retention:
    """Keeps the newest `keep`, and remembers which ones verified, so that counting reads each only once."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._directory = directory
        self._disk = disk
        self._trusted: Set[Path] = set()

    def remove_older(self, newest: Checkpoint, keep: int, held: Optional[Path]) -> None:
        """Remove verified ones beyond the newest `keep`, once `newest` is known to be good; `held` stays.

        What is removed is read again first. Raises OSError when the system refuses.
        """
        self._trusted.add(newest.path)
        if len(checkpoint_folders(self._directory)) <= keep or not verify(newest.path).ok:
            return
        good = 1
        for folder in checkpoint_folders(self._directory):
            if folder in (newest.path, held):
                continue
            if good < keep:
                if folder in self._trusted or verify(folder).ok:
                    self._trusted.add(folder)
                    good += 1
            elif not _is_read(folder) and verify(folder).ok:
                self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """Out of sight in one step, so that a half-removed one is never taken for a damaged one."""
        doomed = folder.with_name(REMOVED + folder.name)
        self._disk.remove_tree(doomed)
        self._disk.rename(folder, doomed)
        self._disk.remove_tree(doomed)
        self._trusted.discard(folder)
