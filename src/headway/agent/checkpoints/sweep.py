"""Deletes one checkpoint below a job's checkpoint root, and nothing else.

Every part of its path is opened by name from the folder above, no link is followed, no other file system is entered.
It is first renamed out of sight, so that a half-deleted one is never taken for a damaged one. One that is locked by a
reader (`flock`), or written over since it was chosen, stays.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat

from headway.agent.checkpoints.folder import why

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ANY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
HIDDEN = ".tmp-removed-"
DEEPEST = 64


class Kept(Exception):
    """Why it was not deleted: `outside`, `link`, `in-use`, `changed`, `mount`, `missing`, or what the system said."""


def discard(root: str, path: str, size: int | None = None) -> None:
    """Delete the checkpoint at `path` below `root`. `size`: its bytes when it was chosen, None: any. Raises Kept."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise Kept("outside")
    try:
        here = os.open(root, _FOLDER)
    except OSError as error:
        raise Kept(_said(error)) from None
    try:
        device = os.fstat(here).st_dev
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        _discard_in(here, parts[-1], device, size)
    except OSError as error:
        raise Kept(_said(error)) from None
    finally:
        os.close(here)


def _discard_in(parent: int, name: str, device: int, size: int | None) -> None:
    fd = os.open(name, _ANY, dir_fd=parent)
    try:
        status = os.fstat(fd)
        if status.st_dev != device:
            raise Kept("mount")
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            raise Kept("link")
        if size is not None and _bytes_in(fd, status) != size:
            raise Kept("changed")
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise Kept("in-use") from None
        hidden = f"{HIDDEN}{os.getpid()}-{name}"[:255]
        os.rename(name, hidden, src_dir_fd=parent, dst_dir_fd=parent)
        _remove(parent, hidden, device, DEEPEST)
    finally:
        os.close(fd)


def _remove(parent: int, name: str, device: int, depth: int) -> None:
    """Remove what the name stands for: a link as a link, a folder with all that is in it."""
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=parent)
        return
    if status.st_dev != device or not depth:
        raise Kept("mount" if depth else "too-deep")
    fd = os.open(name, _FOLDER, dir_fd=parent)
    try:
        for inner in os.listdir(fd):
            _remove(fd, inner, device, depth - 1)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=parent)


def _bytes_in(fd: int, status: os.stat_result) -> int:
    """Bytes of the plain files in and below a folder, or of a file."""
    if not stat.S_ISDIR(status.st_mode):
        return status.st_size
    total = 0
    for name in os.listdir(fd):
        inner = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISREG(inner.st_mode):
            total += inner.st_size
        elif stat.S_ISDIR(inner.st_mode):
            below = os.open(name, _FOLDER, dir_fd=fd)
            try:
                total += _bytes_in(below, inner)
            finally:
                os.close(below)
    return total


def _said(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "missing"
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "link"
    return why(error)
