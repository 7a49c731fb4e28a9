"""Everything a save does to a file system, one small act at a time.

A test puts a disk in its place that is full, refuses, or dies between any two acts and within any write; nothing else
of a save may change a file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Iterable

from headway.sdk.job.hashing import Block


class Disk:
    """The real one. Every method raises OSError as the system does."""

    def make_folder(self, path: Path) -> None:
        os.mkdir(path)

    def rename(self, path: Path, target: Path) -> None:
        """Put `path` at `target`, in one step for whoever looks."""
        os.rename(path, target)

    def remove_file(self, path: Path) -> None:
        os.unlink(path)

    def remove_folder(self, path: Path) -> None:
        os.rmdir(path)

    def append(self, file: IO[bytes], block: Block) -> None:
        """Write all of `block` to an unbuffered file."""
        rest = memoryview(block)
        while rest:
            rest = rest[file.write(rest) :]

    def sync(self, fd: int) -> None:
        os.fsync(fd)

    def create(self, path: Path, blocks: Iterable[Block]) -> None:
        """A new file of these blocks, durable once this returns; its name is once its folder is synced."""
        with open(path, "xb", buffering=0) as file:
            for block in blocks:
                self.append(file, block)
            self.sync(file.fileno())

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder durable."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sync(fd)
        finally:
            os.close(fd)

    def sync_file(self, path: Path) -> None:
        """Make a file durable that somebody else wrote."""
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self.sync(fd)
        finally:
            os.close(fd)

    def replace_file(self, path: Path, content: bytes, building: Path) -> None:
        """Put content at `path`, by way of `building` beside it, so that it is there whole or not at all."""
        with suppress(FileNotFoundError):
            self.remove_file(building)
        self.create(building, [content])
        self.rename(building, path)
        self.sync_folder(path.parent)

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and all in it; what is no longer there is nobody's loss, and no link is followed."""
        try:
            entries = list(os.scandir(path))
        except FileNotFoundError:
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self.remove_tree(Path(entry.path))
            else:
                with suppress(FileNotFoundError):
                    self.remove_file(Path(entry.path))
        with suppress(FileNotFoundError):
            self.remove_folder(path)
