"""Which checkpoints can be trusted: every file there, of the size and hash its manifest says.

Only reads. A damaged checkpoint is named with its reason and left as it is: never loaded, renamed or deleted. Symbolic
links are not followed, in any part of a checkpoint. The server asks the same functions before it resumes a job.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Collection, List, Optional, Tuple

from headway.sdk.job.hashing import algorithm_of, hash_file
from headway.sdk.job.manifest import MANIFEST, MAX_BYTES, FileEntry, Manifest, decode_manifest

MARKED = "bad-{}.json"
_NAME = re.compile(r"step-(\d{1,18})(?:\.(\d{1,9}))?", re.ASCII)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class CheckpointError(Exception):
    """A checkpoint cannot be saved or restored; the message says why and what to do."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that verified, with what its manifest says."""

    path: Path
    manifest: Manifest

    @property
    def step(self) -> int:
        return self.manifest.step


@dataclass(frozen=True)
class Verification:
    """Whether a checkpoint can be trusted, and if not why.

    `reason` is one of no-manifest, bad-manifest, missing-file, wrong-size, wrong-hash, unreadable, marked-bad (its
    hashes were right and it could not be loaded); empty when `ok`. `step` is what the manifest says, else what the
    folder's name says, else None.
    """

    path: Path
    ok: bool
    step: Optional[int]
    reason: str = ""
    detail: str = ""
    manifest: Optional[Manifest] = None


class Rejected(Exception):
    """Why a part of a checkpoint is not trusted, as in `Verification`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def verify(
    path: os.PathLike[str] | str, only: Optional[Collection[str]] = None, sizes_only: bool = False
) -> Verification:
    """Compare the files of a checkpoint with its manifest, or those named in `only`; never raises for what it finds.

    `sizes_only` leaves the content unread, for who hashes it while loading.
    """
    folder = Path(path)
    step = _named_step(folder)
    try:
        manifest = _verified_manifest(folder, step, only, sizes_only)
    except Rejected as rejected:
        return Verification(folder, False, step, rejected.reason, rejected.detail)
    return Verification(folder, True, manifest.step, manifest=manifest)


def newest_verified(directory: os.PathLike[str] | str) -> Tuple[Optional[Checkpoint], List[Verification]]:
    """The newest checkpoint in `directory` that verifies, and the newer ones that do not, newest first."""
    rejected: List[Verification] = []
    try:
        folders = checkpoint_folders(Path(directory))
    except OSError as error:
        return None, [Verification(Path(directory), False, None, "unreadable", str(error))]
    for folder in folders:
        found = verify(folder)
        if found.manifest is not None:
            return Checkpoint(folder, found.manifest), rejected
        rejected.append(found)
    return None, rejected


def checkpoint_folders(directory: Path) -> List[Path]:
    """Everything in `directory` named like a checkpoint, newest step first; a missing directory holds none."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    matches = [match for match in map(_NAME.fullmatch, names) if match]
    matches.sort(key=lambda match: (int(match[1]), int(match[2] or 0)), reverse=True)
    return [directory / match[0] for match in matches]


def _named_step(folder: Path) -> Optional[int]:
    match = _NAME.fullmatch(folder.name)
    return int(match[1]) if match else None


def mark_path(folder: Path) -> Path:
    """The file beside a checkpoint that says it must not be used."""
    return folder.with_name(MARKED.format(folder.name))


def encode_mark(manifest: Manifest, detail: str) -> bytes:
    """A mark names what it marks, so that a later checkpoint of that name is not meant."""
    return json.dumps({"created_at": manifest.created_at.isoformat(), "detail": detail}).encode() + b"\n"


def _verified_manifest(
    folder: Path, step: Optional[int], only: Optional[Collection[str]], sizes_only: bool
) -> Manifest:
    try:
        root = os.open(folder, _DIRECTORY)
    except FileNotFoundError:
        raise Rejected("no-manifest", str(folder)) from None
    except OSError as error:
        raise Rejected("unreadable", _why(error)) from None
    try:
        manifest = _read_manifest(root)
        if step is not None and step != manifest.step:
            raise Rejected("bad-manifest", f"{manifest.step} ≠ {step}")
        _check_mark(folder, manifest)
        for entry in manifest.files:
            if only is None or entry.path in only:
                _check_file(root, entry, sizes_only)
        return manifest
    finally:
        os.close(root)


def _read_manifest(root: int) -> Manifest:
    try:
        fd = open_inside(root, MANIFEST)
    except FileNotFoundError:
        raise Rejected("no-manifest", MANIFEST) from None
    with os.fdopen(fd, "rb") as file:
        try:
            return decode_manifest(file.read(MAX_BYTES))
        except OSError as error:
            raise Rejected("unreadable", f"{MANIFEST}: {_why(error)}") from None
        except ValueError as error:
            raise Rejected("bad-manifest", str(error)) from None


def _check_mark(folder: Path, manifest: Manifest) -> None:
    """A mark that cannot be read is none: it guards against trying again, not against damage."""
    try:
        mark = json.loads(mark_path(folder).read_bytes())
        marked = mark["created_at"] == manifest.created_at.isoformat()
    except (OSError, ValueError, TypeError, KeyError):
        return
    if marked:
        raise Rejected("marked-bad", str(mark.get("detail")))


def _check_file(root: int, entry: FileEntry, sizes_only: bool) -> None:
    try:
        fd = open_inside(root, entry.path)
    except FileNotFoundError:
        raise Rejected("missing-file", entry.path) from None
    try:
        size = os.fstat(fd).st_size
        if size != entry.bytes:
            raise Rejected("wrong-size", f"{entry.path}: {size} B ≠ {entry.bytes} B")
        if not sizes_only and hash_file(fd, algorithm_of(entry.hash)) != entry.hash:
            raise Rejected("wrong-hash", entry.path)
    except OSError as error:
        raise Rejected("unreadable", f"{entry.path}: {_why(error)}") from None
    finally:
        os.close(fd)


def open_inside(root: int, path: str) -> int:
    """A regular file below an open folder, following no link on the way.

    Raises FileNotFoundError when it is not there, Rejected for anything else that is there instead.
    """
    *folders, name = path.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            inner = os.open(folder, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        fd = os.open(name, _FILE, dir_fd=here)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Rejected("unreadable", f"{path}: {_why(error)}") from None
    finally:
        os.close(here)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Rejected("unreadable", f"{path}: not a regular file")
    return fd


def _why(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a symbolic link or not a folder on the way, which is not followed"
    return error.strerror or str(error)
