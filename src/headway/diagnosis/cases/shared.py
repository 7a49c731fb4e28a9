"""What a failure may have in common with others: its node and switch; the mount it met trouble on; the image it ran in.

A mount or an image that merely was there explains nothing: many jobs use the same. It counts only where the cause is
one that it can be at the root of, and a mount only where it is the same on other nodes too.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headway.diagnosis.cause import Cause
from headway.diagnosis.verdict import Verdict
from headway.domain.job import JobSpec

OF_MOUNTS = frozenset(
    {
        Cause.STORAGE_IO, Cause.DISK_FULL, Cause.PATH_PERM, Cause.DATA_STALL, Cause.CKPT_CORRUPT, Cause.REMOTE_DATA,
        Cause.DATA_BAD_SAMPLE,
    }
)  # fmt: skip
"""Causes that a mount can be at the root of."""
_OF_IMAGES = frozenset({Cause.IMAGE_PULL, Cause.DEP_IMPORT, Cause.DRIVER_MISMATCH, Cause.NATIVE_CRASH})
_SAVED = frozenset({Cause.DISK_FULL, Cause.CKPT_CORRUPT})
_NETWORK_KINDS = (
    *("9p", "afs", "beegfs", "ceph", "cifs", "fuse", "glusterfs", "gpfs", "lustre", "nfs", "panfs", "smb"),
    *("virtiofs", "wekafs"),
)
_IMAGE_OPTIONS = ("--container-image", "--image")
_IMAGE_VARIABLES = ("CONTAINER_IMAGE", "SLURM_CONTAINER_IMAGE", "IMAGE")
_PATH = re.compile(r"(?<![\w.])/[^\s'\"`:,;()\[\]]+")

Disk = Mapping[str, Any]
"""A place and its mount as an agent saw it (docs/protocol.md)."""


def shares(verdict: Verdict, switch: str | None, spec: JobSpec, disks: Sequence[Disk]) -> dict[str, str]:
    """What it may share, as `Failure.shares`. `disks`: what was seen of the mounts where it happened."""
    found = {"node": verdict.node, "switch": switch if verdict.node is not None else None}
    if verdict.cause in OF_MOUNTS:
        found["mount"] = mount_of(verdict, disks)
    if verdict.cause in _OF_IMAGES:
        found["image"] = image_of(spec)
    return {kind: name for kind, name in found.items() if name is not None}


def image_of(spec: JobSpec) -> str | None:
    """The image that a job declares: in a blank of its template, an option of its command, or its environment."""
    if spec.parameters.get("image"):
        return spec.parameters["image"]
    for word, after in zip(spec.command, (*spec.command[1:], ""), strict=True):
        option, equals, value = word.partition("=")
        if option in _IMAGE_OPTIONS and (value if equals else after):
            return value if equals else after
    return next((spec.env[name] for name in _IMAGE_VARIABLES if spec.env.get(name)), None)


def mount_of(verdict: Verdict, disks: Sequence[Disk]) -> str | None:
    """What lies behind the mount it met: one in trouble, else that of a path it names, else the only one it uses.

    Only what other nodes can have too: a network file system, by its source.
    """
    troubled = [disk for disk in disks if disk.get("answers") is False and disk.get("use")]
    troubled += [disk for disk in disks if isinstance(disk.get("was"), Mapping)]
    named = [disk for path in _PATH.findall(verdict.detail or "") for disk in _holding(path, disks)]
    saved = [disk for disk in disks if disk.get("use") == "checkpoints"] if verdict.cause in _SAVED else []
    for some in (troubled, named, saved):
        if (source := next(filter(None, map(network_source, some)), None)) is not None:
            return source
    used = {source for disk in disks if disk.get("use") and (source := network_source(disk)) is not None}
    return used.pop() if len(used) == 1 else None


def _holding(path: str, disks: Sequence[Disk]) -> list[Disk]:
    """The deepest mount above a path."""
    above = [disk for disk in disks if f"{path}/".startswith(f"{str(disk.get('mount')).rstrip('/')}/")]
    return sorted(above, key=lambda disk: -len(str(disk["mount"])))[:1]


def network_source(disk: Disk) -> str | None:
    """What a network file system mounts; None for a disk of the node's own."""
    was = disk.get("was")
    mount = was if isinstance(was, Mapping) else disk
    kind, source = str(mount.get("kind") or ""), str(mount.get("source") or "")
    is_network = kind.startswith(_NETWORK_KINDS) or ":/" in source or source.startswith("//")
    return source if is_network and source else None
