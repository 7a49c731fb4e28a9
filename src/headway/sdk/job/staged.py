"""A finished checkpoint copied to a store and back: its files, then its manifest; one without a manifest is none.

Each save has a key of its own, so that two never mix, whoever else still copies. What comes back is built beside the
others, compared with its manifest and renamed into its place: a copy that is torn or damaged changes nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Collection, Iterator, List, NamedTuple, Optional, Tuple

from headway.sdk.job.checkpoint import Checkpoint, CheckpointError, Rejected, verify
from headway.sdk.job.commit import begin_folder, publish
from headway.sdk.job.disk import Disk
from headway.sdk.job.events import complain
from headway.sdk.job.manifest import MANIFEST, Manifest, decode_manifest
from headway.sdk.job.store import open_store

_KEY = re.compile(r"(.+/)?step-(\d{1,18})-[0-9a-f]{12}/" + re.escape(MANIFEST), re.ASCII)


class Copy(NamedTuple):
    """A whole copy in a store: the step and the key all its objects begin with."""

    step: int
    key: str


def copy_out(folder: Path, job: str, store: Any) -> Tuple[str, bool]:
    """Copy the checkpoint at `folder`, its manifest last; the key it has there, and whether that is new.

    Raises CheckpointError where it does not verify any more, OSError where it is gone or the store does not take it.
    """
    with read_lock(folder):
        key = key_of(job, _verified(folder, ()))
        if f"{key}/{MANIFEST}" in store.keys(key):
            return key, False
        for entry in _verified(folder, None).files:
            store.put(f"{key}/{entry.path}", folder / entry.path)
        store.put(f"{key}/{MANIFEST}", folder / MANIFEST)
        return key, True


def _verified(folder: Path, only: Optional[Collection[str]]) -> Manifest:
    found = verify(folder, only)
    if found.manifest is None:
        raise CheckpointError(f"{folder} is not copied: {found.reason}: {found.detail}")
    return found.manifest


def key_of(job: str, manifest: Manifest) -> str:
    """Where a save of a job is kept in a store."""
    unique = hashlib.sha256(f"{manifest.save}:{manifest.created_at.isoformat()}".encode()).hexdigest()[:12]
    return f"{job}/step-{manifest.step:08d}-{unique}"


def published(store: Any, job: str) -> List[Copy]:
    """The whole copies of a job's checkpoints, newest step first. Raises OSError."""
    matches = (_KEY.fullmatch(key) for key in store.keys(job))
    found = [Copy(int(match[2]), match[0][: -len(MANIFEST) - 1]) for match in matches if match]
    return sorted(found, reverse=True)


def stage_back(copy: Copy, folder: Path, store: Any, disk: Disk) -> Checkpoint:
    """Fetch a copy into a new folder and publish it beside once every byte is as its manifest says.

    Raises Rejected where it is not, OSError where the store does not give it or the disk does not take it.
    """
    begin_folder(folder, disk)
    try:
        manifest = _fetch(copy, folder, store, disk)
        found = verify(folder)
        if not found.ok:
            raise Rejected(found.reason, found.detail)
        return publish(folder, folder.parent, manifest, disk)
    except (Rejected, OSError):
        disk.remove_tree(folder)
        raise


def _fetch(copy: Copy, folder: Path, store: Any, disk: Disk) -> Manifest:
    """Every file, then the manifest."""
    disk.remove_tree(folder / ".words")
    try:
        manifest = decode_manifest(store.read(f"{copy.key}/{MANIFEST}"))
    except ValueError as error:
        raise Rejected("bad-manifest", str(error)) from None
    for entry in manifest.files:
        path = folder / entry.path
        for missing in reversed([above for above in path.parents if folder in above.parents and not above.exists()]):
            disk.make_folder(missing)
        store.get(f"{copy.key}/{entry.path}", path)
    store.get(f"{copy.key}/{MANIFEST}", folder / MANIFEST)
    for root, _, _ in os.walk(folder):
        disk.sync_folder(Path(root))
    return manifest


def fetch_newer(url: str, job: str, step: int, building: Path, disk: Disk) -> Optional[str]:
    """Stage back the newest whole copy of a later step than `step`: JSON of its `path` and which `copy`; None: none.

    A copy that is damaged is named and the one before is tried; a store that does not answer raises CheckpointError, as
    going on from less than there is would lose steps silently.
    """
    return _fetch_first(url, job, lambda copy: copy.step > step, building, disk)


def fetch_named(url: str, path: Path, building: Path, disk: Disk) -> Optional[str]:
    """As `fetch_newer`, of the checkpoint of another job that is not at `path` here: `<its job>/step-<its step>`."""
    name = path.name.partition(".")[0].rpartition("-")[2]
    wanted = int(name) if name.isdecimal() else None
    return _fetch_first(url, path.parent.name, lambda copy: copy.step == wanted, building, disk)


def _fetch_first(url: str, job: str, fits: Callable[[Copy], bool], building: Path, disk: Disk) -> Optional[str]:
    store = open_store(url, disk)
    try:
        for copy in filter(fits, published(store, job)):
            try:
                found = stage_back(copy, building, store, disk)
                return json.dumps({"path": str(found.path), "copy": f"{store.url}/{copy.key}"})
            except Rejected as rejected:
                complain(f"the copy {store.url}/{copy.key} is skipped: {rejected.reason}: {rejected.detail}")
    except OSError as error:
        raise CheckpointError(f"nothing is restored: the store does not give what it may have: {error}") from error
    return None


@contextmanager
def read_lock(folder: Path) -> Iterator[None]:
    """Keep a checkpoint from being let go of while it is read: whoever deletes asks for the lock."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
        yield
    finally:
        os.close(fd)
