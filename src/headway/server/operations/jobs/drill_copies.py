"""Keep a checkpoint for the copy of a job that goes on from it: the job itself may thin it at any time.

The copy gets links of its own to the same files, which nobody writes to once they are committed: no bytes are copied,
and what the copy removes are its own links. Nothing is read or written through a symbolic link.
"""

import os
from pathlib import Path

from headway.sdk.job.checkpoint import Checkpoint
from headway.sdk.job.manifest import MANIFEST

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def keep(begin: Checkpoint, folder: Path) -> Path:
    """The checkpoint in the copy's own `folder`; where its file system has no links, the job's own, as it is."""
    to = folder / begin.path.name
    try:
        folder.mkdir(mode=0o700)
        _link(begin, to)
    except OSError:
        return begin.path
    return to


def _link(begin: Checkpoint, to: Path) -> None:
    source = os.open(begin.path, _DIRECTORY)
    try:
        owner = os.fstat(source)
        _make(to.parent, to.name, owner)
        for entry in begin.manifest.files:
            parent, _, name = entry.path.rpartition("/")
            _link_within(source, to, parent, name, owner)
        _link_within(source, to, "", MANIFEST, owner)  # last, as a save does: without it there is no checkpoint
    finally:
        os.close(source)


def _link_within(source: int, to: Path, parent: str, name: str, owner: os.stat_result) -> None:
    within, here = os.dup(source), to
    try:
        for part in parent.split("/") if parent else ():
            deeper = os.open(part, _DIRECTORY, dir_fd=within)
            os.close(within)
            within = deeper
            _make(here, part, owner)
            here /= part
        os.link(name, here / name, src_dir_fd=within, follow_symlinks=False)
    finally:
        os.close(within)


def _make(parent: Path, name: str, owner: os.stat_result) -> None:
    """A folder that belongs to whom the job's checkpoints belong to: the copy may thin it."""
    folder = parent / name
    if not folder.exists():
        folder.mkdir(mode=0o700)
        os.chown(folder, owner.st_uid, owner.st_gid)
