"""Real file systems for drills and tests: a small disk on a loop device, and one that never answers. Needs root."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DISK_BYTES = 24 << 20
_LIBC = ctypes.CDLL(None, use_errno=True)
_DETACH = 2


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 24 MiB on a loop device. Raises CalledProcessError where mounts are refused."""
    image, mount = folder / "disk.img", folder / "disk"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
    try:
        mount.chmod(0o777)
        yield mount
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=False, stderr=subprocess.DEVNULL)


def make_read_only(mount: Path) -> None:
    """As the kernel does when it meets an error on the disk."""
    subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)


def take_away(mount: Path) -> None:
    """Unmount it at once, whoever uses it."""
    subprocess.run(["umount", "-l", str(mount)], check=True)


@contextmanager
def dead_mount(folder: Path) -> Iterator[Path]:
    """A file system of which nobody ever answers a question, as a dead network disk: FUSE without a server.

    Raises OSError where there is no FUSE.
    """
    mount = folder / "dead"
    mount.mkdir()
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if _LIBC.mount(b"dead", str(mount).encode(), b"fuse", 0, options) != 0:
        os.close(fd)
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(mount))
    try:
        yield mount
    finally:
        os.close(fd)  # whoever waits there gets an error
        _LIBC.umount2(str(mount).encode(), _DETACH)
