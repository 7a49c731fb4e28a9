"""A folder below a job's checkpoint root, opened step by step: names, sizes and bytes of plain files in it.

Never follows a link and never leaves the root: every part is opened by its own name from the folder above it.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MOST_NAMES = 100_000


class Damaged(Exception):
    """Why something that looks like a checkpoint is not one to go on from: a reason word and what was seen."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Folder:
    """One open folder; `path` is relative to the root, "" for the root itself. Close it, or use it in `with`."""

    def __init__(self, fd: int, path: str = "", parent: Folder | None = None) -> None:
        self.fd = fd
        self.path = path
        self.parent = parent
        self.files: dict[str, os.stat_result] = {}
        self.folders: list[str] = []
        self._list()

    @classmethod
    def root(cls, path: str) -> Folder:
        """The checkpoint root of a job. Raises OSError, also where it is a link."""
        return cls(os.open(path, _FOLDER))

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    @property
    def name(self) -> str:
        """Its own name; "" for the root."""
        return self.path.rpartition("/")[2]

    def below(self, name: str) -> Folder:
        """A folder in it. Raises Damaged where that is something else by now."""
        try:
            fd = os.open(name, _FOLDER, dir_fd=self.fd)
        except OSError as error:
            raise Damaged("unreadable", f"{name}: {why(error)}") from None
        return Folder(fd, f"{self.path}/{name}" if self.path else name, self)

    def open(self, name: str) -> BinaryIO:
        """A plain file in it. Raises Damaged."""
        try:
            fd = os.open(name, _FILE, dir_fd=self.fd)
        except FileNotFoundError:
            raise Damaged("missing-file", name) from None
        except OSError as error:
            raise Damaged("unreadable", f"{name}: {why(error)}") from None
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise Damaged("unreadable", f"{name}: not a regular file")
        return os.fdopen(fd, "rb")

    def read(self, name: str, most: int = 64 << 20) -> bytes:
        """The bytes of a small file. Raises Damaged, also where it is larger than `most`."""
        with self.open(name) as file:
            try:
                content = file.read(most + 1)
            except OSError as error:
                raise Damaged("unreadable", f"{name}: {why(error)}") from None
        if len(content) > most:
            raise Damaged("unreadable", f"{name}: over {most} bytes")
        return content

    def size(self, name: str) -> int:
        """Bytes of a plain file. Raises Damaged where there is none."""
        if name not in self.files:
            raise Damaged("missing-file", name)
        return self.files[name].st_size

    def every_file(self, depth: int = 4) -> Iterator[os.stat_result]:
        """All plain files in and below it."""
        yield from self.files.values()
        for name in self.folders if depth else ():
            try:
                with self.below(name) as inner:
                    yield from inner.every_file(depth - 1)
            except Damaged:
                continue

    def _list(self) -> None:
        with os.scandir(self.fd) as entries:
            for count, entry in enumerate(entries):
                if count >= MOST_NAMES:
                    break
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode):
                    self.files[entry.name] = status
                elif stat.S_ISDIR(status.st_mode):
                    self.folders.append(entry.name)
        self.folders.sort()


def mark(path: str, saved_at: float) -> str:
    """What a checkpoint is known by: written over, it is another."""
    return f"{path}:{saved_at:.3f}"


def why(error: OSError) -> str:
    """What the system said, in words that name the link."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a symbolic link or not a folder, which is not followed"
    return error.strerror or str(error)
