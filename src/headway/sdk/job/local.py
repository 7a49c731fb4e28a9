"""Snapshots that outlive their processes on the node: images with names, and beside each an order to publish it.

After a kill the next attempt on the same nodes publishes what every rank still holds of the newest snapshot, and goes
on from there. An image counts only with its order, which is written when the hashes are known and removed before the
image is written again. Lies on a memory or local file system, readable by its owner only.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

from headway.sdk.job.commit import Order
from headway.sdk.job.hashing import BLOCK, begin
from headway.sdk.job.image import Image

FORGOTTEN_AFTER_S = 86_400.0


class Left(NamedTuple):
    """A whole snapshot found on this node, and its bytes."""

    order: Order
    image: Any


class LocalTier:
    """The images of one rank of one job below `root`."""

    def __init__(self, root: Path, job: str, rank: int) -> None:
        self._jobs = root / f"headway-{os.geteuid()}"
        self._job = self._jobs / job
        self._folder = self._job / f"rank-{rank:05d}"

    def image(self, number: int) -> Image:
        """Memory with a name; what an earlier process left there stays readable until it is written."""
        self._jobs.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self._jobs, self._job, self._folder):
            _own_folder(folder)
        self._forget_others()
        return Image(self._folder / f"slot-{number}.image")

    def left(self) -> List[Left]:
        """What earlier processes left whole; what is torn or unreadable is not among it."""
        found = []
        for path in sorted(self._folder.glob("slot-*.image")):
            with suppress(OSError, ValueError, TypeError, KeyError):
                noted = json.loads(_order_of(path).read_bytes())
                order = Order.from_json(noted["order"])
                with path.open("rb") as file:
                    image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                if _hashes(order, image) == noted["hashes"]:
                    found.append(Left(order, image))
        return found

    def discard(self) -> None:
        """Everything is published: give the memory back."""
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            self._job.rmdir()

    def _forget_others(self) -> None:
        """Other jobs' images that nobody has come back for in a day."""
        for job in self._jobs.iterdir():
            newest = max((path.stat().st_mtime for path in job.rglob("*.image")), default=time.time())
            if job != self._job and newest < time.time() - FORGOTTEN_AFTER_S:
                shutil.rmtree(job, ignore_errors=True)


def _own_folder(path: Path) -> None:
    """Where others may write beside us, a folder or link that they have put there is not used."""
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise OSError(errno.EPERM, f"{path} is not a folder of this user: give another `local`, or none")


def note(order: Order, image: Any, path: Path) -> None:
    """Write beside the image at `path` what is to be made of it, so that a later process can."""
    content = json.dumps({"order": order.to_json(), "hashes": _hashes(order, image)})
    building = path.with_suffix(".tmp")
    building.write_text(content, encoding="utf-8")
    os.replace(building, _order_of(path))


def forget(path: Path) -> None:
    """The image is about to be written: its order no longer holds."""
    with suppress(FileNotFoundError):
        _order_of(path).unlink()


def _order_of(path: Path) -> Path:
    return path.with_suffix(".json")


def _hashes(order: Order, image: Any) -> Dict[str, str]:
    hashes = {}
    view = memoryview(image)
    for part in order.parts:
        running = begin(order.algorithm)
        for start in range(part.offset, part.offset + part.bytes, BLOCK):
            running.update(view[start : min(start + BLOCK, part.offset + part.bytes)])
        hashes[part.path] = running.hexdigest()
    return hashes
