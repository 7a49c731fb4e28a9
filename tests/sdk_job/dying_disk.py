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


class Medium:
    """What several processes see of one disk: what of it is not yet sure to be there after a power cut."""

    def __init__(self) -> None:
        self.unsynced: dict[int, Path] = {}
        self.loose: list[tuple[Path, Callable[[], None]]] = []

    def cut_power(self, chance: random.Random) -> None:
        """Take back, newest first, what was never synced and chance does not keep."""
        for _, undo in reversed(self.loose):
            if chance.random() < 0.5:
                undo()
        for inode, path in self.unsynced.items():
            if path.exists() and path.stat().st_ino == inode:
                os.truncate(path, chance.randint(0, path.stat().st_size))


class DyingDisk(Disk):
    """Dies when `budget` is spent, one for every act and every byte written; `before` is called before each act."""

    def __init__(
        self, budget: int | None = None, medium: Medium | None = None, before: Callable[[], None] = lambda: None
    ) -> None:
        self.budget = budget
        self.spent = 0
        self.is_dead = False
        self.medium = medium or Medium()
        self._before = before

    def make_folder(self, path: Path) -> None:
        self._act()
        super().make_folder(path)
        self.medium.loose.append((path.parent, lambda: shutil.rmtree(path, ignore_errors=True)))

    def rename(self, path: Path, target: Path) -> None:
        self._act()
        before = target.read_bytes() if target.is_file() else None
        super().rename(path, target)
        self.medium.loose.append((target.parent, lambda: _undo_rename(path, target, before)))

    def remove_file(self, path: Path) -> None:
        self._act()
        super().remove_file(path)

    def remove_folder(self, path: Path) -> None:
        self._act()
        super().remove_folder(path)

    def append(self, file: IO[bytes], block: Block) -> None:
        self._before()
        inode = os.fstat(file.fileno()).st_ino
        self.medium.unsynced.setdefault(inode, Path(str(file.name)))
        left = len(block) if self.budget is None else max(0, min(len(block), self.budget - self.spent))
        super().append(file, memoryview(block)[:left])
        self.spent += left
        self._act()

    def sync(self, fd: int) -> None:
        self._act()
        status = os.fstat(fd)
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            folder = Path(os.readlink(f"/proc/self/fd/{fd}"))
            self.medium.loose = [(parent, undo) for parent, undo in self.medium.loose if parent != folder]
        else:
            self.medium.unsynced.pop(status.st_ino, None)

    def _act(self) -> None:
        self._before()
        if self.is_dead or (self.budget is not None and self.spent >= self.budget):
            self.is_dead = True
            raise Cut
        self.spent += 1


def _undo_rename(path: Path, target: Path, before: bytes | None) -> None:
    if target.exists() and not path.exists():
        os.rename(target, path)
        if before is not None:
            target.write_bytes(before)
