"""Saving and restoring a training's state as verified checkpoints (format: `manifest`, trust: `checkpoint`).

By itself rank 0 writes the full state while it waits, as all ranks of a data-parallel job hold the same; the others
save nothing and wait for nothing. In the background every rank copies its state to memory and trains on, while a
process beside it writes the copy. Restoring is the same decision on every rank.
"""

from __future__ import annotations

import atexit
import platform
import secrets
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import getpid
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Union

from headway.sdk.job.background import Background
from headway.sdk.job.checkpoint import Checkpoint, CheckpointError
from headway.sdk.job.commit import Order, begin_folder
from headway.sdk.job.disk import Disk
from headway.sdk.job.environment import Environment
from headway.sdk.job.events import EventLog, PrintedEvents, complain
from headway.sdk.job.image import Image
from headway.sdk.job.lease import check_lease, take_lease
from headway.sdk.job.manifest import Manifest
from headway.sdk.job.ranks import Ranks, ranks_that_talk
from headway.sdk.job.reading import read_verified
from headway.sdk.job.restoring import Search
from headway.sdk.job.state import STATE_FILES, Parts, apply, capture, cursor, load_state, write_state
from headway.sdk.job.writer import Performer

Files = Callable[[Path], None]


@dataclass(frozen=True)
class Policy:
    """How checkpoints are made: `keep` None keeps all; `algorithm` hashes the state; `patience_s` is for ranks."""

    keep: Optional[int] = None
    background: bool = False
    algorithm: str = "crc32"
    patience_s: float = 600.0

    def __post_init__(self) -> None:
        if self.keep is not None and self.keep < 1:
            raise ValueError(f"keep={self.keep}: at least the newest checkpoint is kept; None keeps all")


class Checkpoints:
    """The checkpoints of one training in one directory: `save` as often as you like, `restore` once before training."""

    def __init__(
        self,
        environment: Environment,
        events: Union[EventLog, PrintedEvents],
        parts: Parts,
        directory: Path,
        policy: Policy,
        disk: Optional[Disk] = None,
    ) -> None:
        self.directory = directory
        self._environment = environment
        self._events = events
        self._parts = parts
        self._policy = policy
        self._disk = disk or Disk()
        self._performer = Performer(directory, self._disk)
        self._background = Background() if policy.background else None
        self._ranks: Optional[Ranks] = None
        self._resumed: Optional[Checkpoint] = None
        self._newest: Optional[Checkpoint] = None
        self._saved_step: Optional[int] = None
        self._claimed = False
        if self._background is not None:
            atexit.register(self._leave)

    def save(self, step: int, files: Optional[Files] = None) -> Optional[Checkpoint]:
        """Save the state as that of `step`; None on ranks other than 0 and in the background.

        Without `background` the checkpoint is durable and verified once this returns. With it this returns when the
        state is copied; whatever fails later is raised by the next `save` or `wait`. `files` is called with the folder
        being built: what it writes there (an export, a tokenizer) belongs to the checkpoint. Saving the step just
        restored or saved does nothing. Raises CheckpointError when a newer attempt has taken the directory over,
        OSError when the disk does not take it.
        """
        if self._environment.rank != 0:
            return None
        if self._background is not None:
            self._background.raise_failures()
        if self._saved_step == step:
            return self._newest if self._background is None else None
        started = time.monotonic()
        self._events.write("saving", step=step)
        self._claim()
        image = self._background.free_image() if self._background is not None else Image()
        order = self._snapshot(image, step, files)
        done = partial(self._done, order, started, time.monotonic())
        if self._background is not None:
            self._background.submit(order, image, done)
            self._saved_step = step
            return None
        try:
            self._newest = self._performer.perform(order, image.view())
        finally:
            image.close()
        self._saved_step = step
        done({"path": str(self._newest.path), "bytes": self._newest.manifest.bytes})
        return self._newest

    def wait(self) -> None:
        """Until everything handed to `save` is durable; raises what went wrong with any of it."""
        if self._background is not None:
            self._background.wait()
            self._background.raise_failures()

    def restore(self) -> int:
        """Put back the newest state that verifies and return its step; 0, with nothing changed, when there is none.

        HEADWAY_RESUME_FROM comes first, then the directory, newest step first. What is damaged is skipped, and said.
        Where torch.distributed is initialised rank 0's choice holds for all.
        """
        started = time.monotonic()
        self.wait()
        if self._environment.rank == 0:
            self._claim()
        ranks = self._talking()
        search = Search(self.directory, self._environment.resume_from, self._events, ranks)
        found = search.newest(self._read)
        chosen = found[0] if found is not None else None
        if found is not None:
            apply(found[1], self._parts.stateful(), self._parts.extra, self._environment.rank)
        step, path = (chosen.step, str(chosen.path)) if chosen is not None else (0, None)
        self._resumed = self._newest = chosen
        self._saved_step = chosen.step if chosen is not None else None
        self._events.write("restored", step=step, path=path, seconds=round(time.monotonic() - started, 6))
        if chosen is None and self._environment.rank == 0:
            complain(f"no checkpoint to restore in {self.directory}: training starts from step 0")
        return step

    def _talking(self) -> Ranks:
        if self._ranks is None:
            self._ranks = ranks_that_talk()
        return self._ranks or Ranks(self._environment.rank, 1)

    def _snapshot(self, image: Image, step: int, files: Optional[Files]) -> Order:
        """Copy the state into the image and let the program add its files; returns what is to be made of them."""
        folder = self.directory / self._building(step)
        begin_folder(folder, self._disk)
        try:
            state = capture(self._parts.stateful(), self._parts.extra, step, self._environment.rank)
            name = write_state(image, "state", state)
            if files is not None:
                files(folder)
        except BaseException:
            with suppress(OSError):
                self._disk.remove_tree(folder)
            raise
        return self._order(folder, step, image, state, name)

    def _building(self, step: int) -> str:
        here = self._environment
        return f".tmp-{here.job}.{here.attempt_number}-step-{step:08d}-{getpid()}-{secrets.token_hex(4)}"

    def _order(self, folder: Path, step: int, image: Image, state: Dict[str, Any], name: str) -> Order:
        here, torch, resumed = self._environment, sys.modules.get("torch"), self._resumed
        held = resumed.path if resumed is not None and resumed.step >= step else None
        return Order(
            directory=str(self.directory),
            folder=str(folder),
            job=here.job,
            attempt=here.attempt,
            attempt_number=here.attempt_number,
            step=step,
            save=folder.name,
            parts=tuple(image.parts),
            python=platform.python_version(),
            torch=str(torch.__version__) if torch is not None else None,
            world_size=here.world_size,
            algorithm=self._policy.algorithm,
            data=cursor(state),
            random=name,
            keep=self._policy.keep,
            held=str(held) if held is not None else None,
            patience_s=self._policy.patience_s,
        )

    def _done(self, order: Order, started: float, copied: float, answer: Dict[str, Any]) -> None:
        """Tell of a checkpoint that is there, or complain of one that is not."""
        if "failed" in answer:
            complain(f"step {order.step} is not saved: {answer['failed']}")
            return
        seconds = round(time.monotonic() - started, 6)
        blocked = seconds if self._background is None else round(copied - started, 6)
        said = {"step": order.step, "path": answer["path"], "bytes": answer["bytes"]}
        self._events.write("checkpoint-saved", **said, seconds=seconds, blocked=blocked)

    def _claim(self) -> None:
        """Take the directory once; from then on only see that it still is ours."""
        here = self._environment
        if self._claimed:
            check_lease(self.directory, here.job, here.attempt_number)
        else:
            take_lease(self.directory, here.job, here.attempt_number, self._disk)
        self._claimed = True

    def _read(self, folder: Path, manifest: Manifest) -> Dict[str, Any]:
        files = {entry.path: entry for entry in manifest.files}
        name = next((name for name in STATE_FILES if name in files), None)
        if name is None:
            raise CheckpointError(f"{folder} holds no {STATE_FILES[0]}: it was not saved by this SDK")
        return read_verified(folder, files[name], lambda file: load_state(file, name))

    def _leave(self) -> None:
        """A program that ends has its last checkpoints finished first."""
        assert self._background is not None
        try:
            self.wait()
        except (CheckpointError, OSError) as error:
            complain(f"the last checkpoint is not saved: {error}")
        self._background.close()
