"""How a checkpoint comes to be: built beside its place, sealed with a manifest, then renamed into it whole.

A crash at any line leaves either no checkpoint or a complete one. Nothing that is already there is written over.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import List, Optional, Set

from headway.sdk.job.checkpoint import (
    Checkpoint,
    CheckpointError,
    checkpoint_folders,
    hash_file,
    verify,
)
from headway.sdk.job.environment import Environment
from headway.sdk.job.manifest import MANIFEST, FileEntry, Manifest, encode_manifest


def begin_folder(directory: Path, environment: Environment, step: int) -> Path:
    """An empty folder to build the checkpoint of `step` in."""
    folder = directory / f".tmp-{environment.job}.{environment.attempt_number}-step-{step:08d}"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    return folder


def seal(folder: Path, environment: Environment, step: int) -> Manifest:
    """Make every file in `folder` durable and list it in a manifest, which is written last."""
    torch = sys.modules.get("torch")
    manifest = Manifest(
        job=environment.job,
        attempt=environment.attempt,
        attempt_number=environment.attempt_number,
        step=step,
        created_at=datetime.now(timezone.utc),
        world_size=environment.world_size,
        python=platform.python_version(),
        torch=str(torch.__version__) if torch is not None else None,
        files=tuple(_durable_entries(folder)),
    )
    with open(folder / MANIFEST, "xb") as file:
        file.write(encode_manifest(manifest))
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(folder)
    return manifest


def commit(folder: Path, directory: Path, manifest: Manifest) -> Checkpoint:
    """Rename a sealed folder into its place; where another checkpoint of that step stands, beside it as `step-N.1`."""
    name = f"step-{manifest.step:08d}"
    taken = {path.name for path in checkpoint_folders(directory)}
    copies = (name if copy == 0 else f"{name}.{copy}" for copy in range(len(taken) + 1))
    path = directory / next(free for free in copies if free not in taken)
    os.rename(folder, path)
    _sync_folder(directory)
    return Checkpoint(path, manifest)


def remove_older(directory: Path, newest: Checkpoint, keep: int, held: Optional[Path], trusted: Set[Path]) -> None:
    """Remove verified checkpoints beyond the newest `keep`, once `newest` is known to be good; `held` stays.

    A damaged one neither counts nor goes: it is evidence. `trusted` remembers those that verified, so that
    counting reads each only once; what is removed is read again first.
    """
    if len(checkpoint_folders(directory)) <= keep or not verify(newest.path).ok:
        return
    good = 1
    for folder in checkpoint_folders(directory):
        if folder in (newest.path, held):
            continue
        if good < keep:
            if folder in trusted or verify(folder).ok:
                trusted.add(folder)
                good += 1
        elif verify(folder).ok:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Out of sight in one step, so that a half-removed one is never taken for a damaged one."""
    doomed = folder.with_name(f".tmp-removed-{folder.name}")
    os.rename(folder, doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def _durable_entries(folder: Path) -> List[FileEntry]:
    entries = []
    for root, folders, names in os.walk(folder):
        folders.sort()
        linked = [name for name in folders if Path(root, name).is_symlink()]
        for name in sorted(names + linked):
            path = Path(root, name)
            if path.is_symlink() or not path.is_file():
                raise CheckpointError(
                    f"{path.relative_to(folder)} is not a regular file: a checkpoint holds files only"
                )
            entries.append(_durable_entry(folder, path))
        _sync_folder(Path(root))
    return entries


def _durable_entry(folder: Path, path: Path) -> FileEntry:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(fd)
        return FileEntry(path.relative_to(folder).as_posix(), os.fstat(fd).st_size, hash_file(fd))
    finally:
        os.close(fd)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
