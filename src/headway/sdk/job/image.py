"""A snapshot in host memory: the bytes of a rank's files, as they will lie on disk, in one buffer that is used again.

The buffer is memory of the kernel's, so that a helper process reads it without a copy and it outlives this process
where it has a name. Its pages are paid for by the first save; the next ones only copy.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any, List, NamedTuple, Optional

from headway.sdk.job.hashing import Block

_GROW = 64 << 20


class Part(NamedTuple):
    """One file of a checkpoint: its path below it, and where its bytes lie in the image."""

    path: str
    offset: int
    bytes: int


class Image:
    """A growing buffer, written as a file: `begin` a part, `write` it, and it is listed in `parts`."""

    def __init__(self, path: Optional[Path] = None) -> None:
        """Nameless memory, or a file at `path` on a memory or local file system, whose room is taken for sure."""
        self.path = path
        if path is None:
            self.fd = os.memfd_create("headway-snapshot", os.MFD_CLOEXEC)
        else:
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._map: Optional[mmap.mmap] = None
        self._size = 0
        self._starts: List[int] = []
        self._paths: List[str] = []
        self._end = 0
        self.kept: Any = None
        """What who wrote it remembers of it."""

    @property
    def parts(self) -> List[Part]:
        """The files written since `clear`."""
        bounds = [*self._starts, self._end]
        return [Part(path, bounds[at], bounds[at + 1] - bounds[at]) for at, path in enumerate(self._paths)]

    def clear(self) -> None:
        """Forget the content and keep the memory."""
        self.kept = None
        self._starts, self._paths, self._end = [], [], 0

    def rewind(self, parts: int) -> None:
        """Forget all files but the first few."""
        if parts < len(self._starts):
            self._end = self._starts[parts]
            self._starts, self._paths = self._starts[:parts], self._paths[:parts]

    def begin(self, path: str) -> None:
        """What is written from here on belongs to the file `path`."""
        self._starts.append(self._end)
        self._paths.append(path)

    def write(self, block: Block) -> int:
        """Append to the part begun last; OSError when there is no memory for it."""
        view = memoryview(block).cast("B")
        end = self._end + len(view)
        if end > self._size:
            self._grow(end)
        assert self._map is not None
        self._map[self._end : end] = view
        self._end = end
        return len(view)

    def flush(self) -> None:
        """Nothing waits anywhere else."""

    def tell(self) -> int:
        """Where the next byte goes, counted from the start of its part."""
        return self._end - self._starts[-1]

    def close(self) -> None:
        """Give the memory back; a named file stays."""
        self.kept = None
        self._map = None  # unmapped once no view of it is left
        os.close(self.fd)

    def view(self) -> memoryview:
        """All bytes; it must be gone before the next write."""
        return memoryview(self._map) if self._map is not None else memoryview(b"")

    def _grow(self, needed: int) -> None:
        size = -(-needed // _GROW) * _GROW if self._size else max(needed, 1 << 16)
        if self.path is not None:
            # Without room taken beforehand a full memory file system ends the process with SIGBUS.
            self._take_room(size)
        else:
            os.ftruncate(self.fd, size)
        if self._map is None:
            self._map = mmap.mmap(self.fd, size)
        else:
            self._map.resize(size)
        self._size = size

    def _take_room(self, size: int) -> None:
        try:
            os.posix_fallocate(self.fd, 0, size)
        except OSError as error:
            raise OSError(
                error.errno, f"no room for a snapshot of {size} bytes at {self.path}: give another `local`, or none"
            ) from error
