"""Which attempt may write to a checkpoint directory: the newest that has come to it.

An attempt that was thought dead and still runs must not write over its successor's checkpoints. `lease.json` names the
holder; the server writes it before it launches a successor. An attempt finding a higher number of its own job there,
or another job, is refused. Programs that nobody watches have no numbers: the first keeps the directory itself locked
while it lives, and a second is refused. Where a file system knows no such locks, nobody is.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Dict, Optional, Tuple

from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.disk import Disk
from headway.sdk.job.environment import OFFLINE

LEASE = "lease.json"
REMOVED = ".tmp-removed-"
Holder = Tuple[str, int]
_locked: Dict[Tuple[int, int], int] = {}
"""Directories this process holds alone, by device and inode: their descriptors, open until it ends; -1 in a fork, which
may save but must not keep them locked when this process is gone."""


def take_lease(directory: Path, job: str, attempt_number: int, disk: Disk) -> None:
    """Make this attempt the one that writes here; CheckpointError when a newer attempt, or another program, is."""
    _make_folders(directory, disk)
    if job == OFFLINE:
        _hold_alone(directory)
    holder = _holder(directory)
    if holder is not None and holder[0] == job and holder[1] > attempt_number:
        raise _refusal(directory, holder, attempt_number)
    if holder != (job, attempt_number):
        building = directory / f".tmp-{job}.{attempt_number}-lease"
        content = json.dumps({"job": job, "attempt_number": attempt_number}) + "\n"
        disk.replace_file(directory / LEASE, content.encode(), building)
    _sweep(directory, job, attempt_number, disk)


def check_lease(directory: Path, job: str, attempt_number: int) -> None:
    """CheckpointError unless this attempt still is the one that writes here."""
    holder = _holder(directory)
    if holder is not None and holder != (job, attempt_number):
        raise _refusal(directory, holder, attempt_number)


def _hold_alone(directory: Path) -> None:
    """Lock the directory for this process, once for all its trainings."""
    place = os.stat(directory)
    if (place.st_dev, place.st_ino) in _locked:
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise CheckpointError(
            f"another program on this machine saves in {directory}. "
            "Stop it, or give this one another checkpoint directory."
        ) from None
    except OSError:
        os.close(descriptor)
        return
    if not _locked:
        os.register_at_fork(after_in_child=_leave_to_parent)
    _locked[place.st_dev, place.st_ino] = descriptor


def _leave_to_parent() -> None:
    for place, descriptor in _locked.items():
        if descriptor >= 0:
            os.close(descriptor)
            _locked[place] = -1


def _make_folders(directory: Path, disk: Disk) -> None:
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        try:
            disk.make_folder(path)
        except FileExistsError:
            continue


def _holder(directory: Path) -> Optional[Holder]:
    """Who holds the lease; None when nobody does or the file says nothing sensible."""
    try:
        lease = json.loads((directory / LEASE).read_bytes())
        return str(lease["job"]), int(lease["attempt_number"])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError):
        return None


def _refusal(directory: Path, holder: Holder, attempt_number: int) -> CheckpointError:
    return CheckpointError(
        f"attempt {attempt_number} may not save in {directory}: attempt {holder[1]} of job {holder[0]} "
        f"has taken it over ({LEASE}). Stop this attempt, or give it another checkpoint directory."
    )


def _sweep(directory: Path, job: str, attempt_number: int, disk: Disk) -> None:
    """Remove what earlier attempts and processes of this job began to write and did not finish, or to remove."""
    own = f"-{os.getpid()}-"
    for entry in list(os.scandir(directory)):
        started, _, rest = entry.name.partition(f".tmp-{job}.")
        number = rest.partition("-")[0]
        unfinished = not started and number.isdecimal() and _is_over(int(number), attempt_number, own not in rest)
        if not entry.is_dir(follow_symlinks=False):
            continue
        with suppress(OSError):
            if unfinished:
                # Out of reach in one step, lest an earlier attempt's helper publish what is half removed.
                doomed = directory / (REMOVED + entry.name)
                disk.rename(Path(entry.path), doomed)
                disk.remove_tree(doomed)
            elif entry.name.startswith(REMOVED):
                disk.remove_tree(Path(entry.path))


def _is_over(number: int, attempt_number: int, is_anothers: bool) -> bool:
    return number < attempt_number or (number == attempt_number and is_anothers)
