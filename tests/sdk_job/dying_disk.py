"""A disk that is cut off at a chosen moment: between any two acts of a save, or within any write.

A killed process leaves every byte it wrote. After a power cut only what was synced is sure to be there: of the rest
this disk keeps what chance says, byte by byte and name by name, as file systems do.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO

from headway.sdk.job.disk import Disk
from headway.sdk.job.hashing import Block


class Cut(BaseException):
    """The process is no more; nothing it does from here on happens."""


class DyingDisk(Disk):
    """Dies when `budget` is spent: every act costs one, every byte written costs one."""

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self.spent = 0
        self.is_dead = False
        self._unsynced: dict[int, tuple[Path, int]] = {}
        self._loose: list[tuple[Path, Callable[[], None]]] = []

    def make_folder(self, path: Path) -> None:
        self._act()
        super().make_folder(path)
        self._loose.append((path.parent, lambda: shutil.rmtree(path, ignore_errors=True)))

    def rename(self, path: Path, target: Path) -> None:
        self._act()
        before = target.read_bytes() if target.is_file() else None
        super().rename(path, target)
        self._loose.append((target.parent, lambda: _undo_rename(path, target, before)))

    def remove_file(self, path: Path) -> None:
        self._act()
        super().remove_file(path)

    def remove_folder(self, path: Path) -> None:
        self._act()
        super().remove_folder(path)

    def append(self, file: IO[bytes], block: Block) -> None:
        inode = os.fstat(file.fileno()).st_ino
        self._unsynced.setdefault(inode, (Path(str(file.name)), 0))
        left = len(block) if self.budget is None else max(0, min(len(block), self.budget - self.spent))
        super().append(file, memoryview(block)[:left])
        self.spent += left
        self._act()

    def sync(self, fd: int) -> None:
        self._act()
        status = os.fstat(fd)
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            folder = Path(os.readlink(f"/proc/self/fd/{fd}"))
            self._loose = [(parent, undo) for parent, undo in self._loose if parent != folder]
        else:
            self._unsynced.pop(status.st_ino, None)

    def cut_power(self, chance: random.Random) -> None:
        """Take back, newest first, what was never synced and chance does not keep."""
        for _, undo in reversed(self._loose):
            if chance.random() < 0.5:
                undo()
        for inode, (path, _) in self._unsynced.items():
            if path.exists() and path.stat().st_ino == inode:
                os.truncate(path, chance.randint(0, path.stat().st_size))

    def _act(self) -> None:
        if self.is_dead or (self.budget is not None and self.spent >= self.budget):
            self.is_dead = True
            raise Cut
        self.spent += 1


def _undo_rename(path: Path, target: Path, before: bytes | None) -> None:
    if target.exists() and not path.exists():
        os.rename(target, path)
        if before is not None:
            target.write_bytes(before)
