"""Sets the storages that checkpoints lie on beside each other: how fast each was written and read back.

Sizes differ from job to job, so that rates compare and seconds do not: what a state of one size takes elsewhere is told
from the rate. Nothing here measures.
"""

from dataclasses import dataclass
from enum import StrEnum


class StorageKind(StrEnum):
    """What people choose between."""

    PARALLEL = "parallel"
    OBJECT = "object"
    NETWORK = "network"
    MEMORY = "memory"
    LOCAL = "local"
    OTHER = "other"


STAGED = "staged:"
"""How the name of a store begins that checkpoints were copied to after they had been saved elsewhere."""
_KINDS = {
    StorageKind.PARALLEL: ("lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "fuse.ceph", "wekafs", "pvfs2", "panfs"),
    StorageKind.OBJECT: ("fuse.s3fs", "fuse.goofys", "fuse.rclone", "fuse.ossfs", "fuse.obsfs", "fuse.juicefs"),
    StorageKind.NETWORK: ("nfs", "nfs4", "cifs", "smb3", "fuse.glusterfs", "fuse.sshfs", "9p", "virtiofs"),
    StorageKind.MEMORY: ("tmpfs", "ramfs", "hugetlbfs"),
    StorageKind.LOCAL: ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "overlay"),
}


@dataclass(frozen=True, slots=True)
class Storage:
    """What was measured on one file system type: of saves all bytes and seconds, and of those read back again."""

    name: str
    saves: int
    bytes: int
    seconds: float
    restores: int = 0
    restored_bytes: int = 0
    restored_seconds: float = 0.0

    @property
    def write_rate(self) -> float:
        """Bytes a second from the beginning of a save until it was durable."""
        return self.bytes / self.seconds

    @property
    def restore_rate(self) -> float | None:
        """Bytes a second of verifying and loading; None: nothing was restored from it yet."""
        return self.restored_bytes / self.restored_seconds if self.restored_seconds > 0 else None


def kind_of(name: str) -> StorageKind:
    """What a file system type, or a store behind a staged copy, is to people."""
    if name.startswith(STAGED):
        return StorageKind.OBJECT
    return next((kind for kind, names in _KINDS.items() if name in names), StorageKind.OTHER)
