"""What the place of a rank explains of its end: a file system that was full, had become read-only or had gone, and a
memory group in which the kernel had killed.

The words come first: a place explains only an end that can have come from it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headway.diagnosis.cause import Cause
from headway.diagnosis.evidence import Evidence
from headway.diagnosis.hang.scene import Scene
from headway.diagnosis.verdict import Fault
from headway.diagnosis.witness.own import Own
from headway.domain.errors import BETWEEN, say

_OF_FILES = frozenset(
    {
        Cause.USER_CODE_EXC, Cause.STORAGE_IO, Cause.CKPT_CORRUPT, Cause.DISK_FULL, Cause.PATH_PERM,
        Cause.DATA_BAD_SAMPLE, Cause.CKPT_MISMATCH, Cause.CONFIG_LAUNCH, Cause.REMOTE_DATA,
    }
)  # fmt: skip
"""Causes that a file system in trouble may wear."""
_MAY_BE_FULL = frozenset({Cause.USER_CODE_EXC, Cause.STORAGE_IO, Cause.CKPT_CORRUPT, Cause.DISK_FULL})
_WRITE_FAILED = re.compile(
    r"No space left|ENOSPC|Errno 28|[Dd]isk quota exceeded|inline_container|PytorchStreamWriter|unexpected pos \d"
    r"|file write failed|iostream error|[Ii]nput/output error|write error"
)
_READ_ONLY = re.compile(r"[Rr]ead-only file ?system|EROFS|Errno 30|os error 30")
_OUT_OF_REACH = re.compile(
    r"No such file or directory|does not exist|[Nn]ot found|Errno 2\]|os error 2\)|[Ss]tale file handle|Errno 116"
    r"|Transport endpoint|Errno 107|[Ii]nput/output error|Errno 5\]"
)
_PATH = re.compile(r"(?<![\w.])/[^\s'\"`:,;()\[\]]+")
_CHILD_KILLED = re.compile(r"(?:killed by signal: |SIG)?Kill(?:ed)?\b|signal 9\b|exit ?code:? -9|terminated abruptly")
_FULL_SHARE = 0.005


def with_place(own: Own, evidence: Evidence) -> Own:
    """The same, or what the place where it happened makes of it."""
    scenes = [scene for scene in evidence.scenes if scene.node == own.ending.exit.node]
    disks = [disk for scene in scenes for disk in scene.disks]
    text = own.detail or ""
    if own.cause in _MAY_BE_FULL and _WRITE_FAILED.search(text) and (full := _full(disks)):
        return _as(own, Cause.DISK_FULL, say("mount-full", mount=full))
    if own.cause in _OF_FILES and (_READ_ONLY.search(text) or _WRITE_FAILED.search(text)):
        locked = next(_became_read_only(disks), None)
        if locked is not None:
            return _as(own, Cause.STORAGE_IO, say("mount-read-only", mount=locked))
    if own.cause in _OF_FILES and _OUT_OF_REACH.search(text) and (gone := _gone(disks, text)):
        return _as(own, Cause.STORAGE_IO, say("mount-gone", mount=gone))
    return _with_memory(own, scenes)


def _as(own: Own, cause: Cause, seen: str) -> Own:
    claim = replace(own.claim, cause=cause, owner=None, retry=None) if own.claim else None
    detail = f"{own.detail}{BETWEEN}{seen}"
    return replace(own, fault=Fault.MACHINE_FAULT, cause=cause, claim=claim, detail=detail, confidence=0.95)


def _full(disks: Sequence[Mapping[str, Any]]) -> str | None:
    """A file system that was full when a rank broke."""
    return next((str(disk.get("mount") or disk.get("path")) for disk in disks if _is_full(disk)), None)


def _is_full(disk: Mapping[str, Any]) -> bool:
    total, free, files = (disk.get(name) for name in ("total_bytes", "free_bytes", "free_files"))
    if disk.get("read_only") or not isinstance(total, int) or not isinstance(free, int) or not total:
        return False
    return free <= _FULL_SHARE * total or (files == 0 and disk.get("kind") != "overlay")


def _became_read_only(disks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Mounts that could be written to when the ranks started."""
    for disk, was in _changed(disks):
        if disk.get("read_only") and not was.get("read_only") and disk.get("mount") == was.get("mount"):
            yield str(was["mount"])


def _gone(disks: Sequence[Mapping[str, Any]], text: str) -> str | None:
    """The mount below which the words miss a path, and which was there when the ranks started."""
    gone = {str(was["mount"]) for disk, was in _changed(disks) if disk.get("mount") != was.get("mount")}
    missed = [path.rstrip("./") for path in _PATH.findall(text)]
    return next((mount for mount in sorted(gone) if any(f"{path}/".startswith(f"{mount}/") for path in missed)), None)


def _changed(disks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for disk in disks:
        was = disk.get("was")
        if isinstance(was, Mapping) and was.get("mount"):
            yield disk, was


def _with_memory(own: Own, scenes: Sequence[Scene]) -> Own:
    """A rank that the kernel killed for its memory, or that fell with a child so killed, and the limit."""
    memory = next((scene.memory for scene in scenes if scene.memory), {})
    if memory.get("oom_kill", 0) <= 0 or own.ending.exit.stopped_by_us:
        return own
    limit = memory.get("limit_bytes")
    bound = f" ({limit / (1 << 30):.2f} GiB)" if limit else ""
    if own.claim is None:
        return replace(own, detail=f"{own.detail}{bound}") if own.cause is Cause.HOST_OOM else own
    if own.cause is not Cause.HOST_OOM and not _CHILD_KILLED.search(own.detail or ""):
        return own
    claim = replace(own.claim, cause=Cause.HOST_OOM, owner=None, retry=None)
    detail = f"{own.detail}{BETWEEN}{say('kernel-kill-of')}{bound}"
    fault = Fault.HOST_OUT_OF_MEMORY
    return replace(own, fault=fault, cause=Cause.HOST_OOM, claim=claim, detail=detail, confidence=0.95)
