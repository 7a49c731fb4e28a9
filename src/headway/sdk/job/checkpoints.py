"""Saving and restoring a training's state as verified checkpoints (format: `manifest`, trust: `checkpoint`).

Rank 0 writes the full state, as all ranks of a data-parallel job hold the same; the others save nothing and wait for
nothing (use a barrier of torch.distributed where the program needs one). Restoring is the same decision on every rank.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Callable, List, Optional, Set, Tuple, Union

from headway.sdk.job.checkpoint import Checkpoint, CheckpointError, Verification, newest_verified, verify
from headway.sdk.job.commit import begin_folder, commit, remove_older, seal
from headway.sdk.job.environment import Environment
from headway.sdk.job.events import EventLog, PrintedEvents, complain
from headway.sdk.job.lease import check_lease, take_lease
from headway.sdk.job.state import STATE_FILES, Parts, apply, capture, read_state, write_state


class Checkpoints:
    """The checkpoints of one training in one directory: `save` as often as you like, `restore` once before training."""

    def __init__(
        self,
        environment: Environment,
        events: Union[EventLog, PrintedEvents],
        parts: Parts,
        directory: Path,
        keep: Optional[int],
    ) -> None:
        if keep is not None and keep < 1:
            raise ValueError(f"keep={keep}: at least the newest checkpoint is kept; None keeps all")
        self.directory = directory
        self._environment = environment
        self._events = events
        self._parts = parts
        self._keep = keep
        self._resumed: Optional[Checkpoint] = None
        self._newest: Optional[Checkpoint] = None
        self._trusted: Set[Path] = set()
        self._claimed = False

    def save(self, step: int, files: Optional[Callable[[Path], None]] = None) -> Optional[Checkpoint]:
        """Save the state as that of `step`, durable and verified before it counts; None on ranks other than 0.

        `files` is called with the folder being built: what it writes there (an export, a tokenizer) belongs to the
        checkpoint. Saving the step just restored or saved returns what is there. Raises CheckpointError when a newer
        attempt has taken the directory over, OSError when the disk does not take it.
        """
        if self._environment.rank != 0:
            return None
        if self._newest is not None and self._newest.step == step:
            return self._newest
        started = time.monotonic()
        self._events.write("saving", step=step)
        self._claim()
        folder = begin_folder(self.directory, self._environment, step)
        try:
            saved = self._build(folder, step, files)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        seconds, size = round(time.monotonic() - started, 6), saved.manifest.bytes
        self._events.write("checkpoint-saved", step=step, path=str(saved.path), bytes=size, seconds=seconds)
        self._newest = saved
        self._trusted.add(saved.path)
        self._retain(saved)
        return saved

    def restore(self) -> int:
        """Put back the newest state that verifies and return its step; 0, with nothing changed, when there is none.

        HEADWAY_RESUME_FROM comes first, then the directory, newest step first. What is damaged is skipped, and said.
        Where torch.distributed is initialised rank 0's choice holds for all.
        """
        started = time.monotonic()
        if self._environment.rank == 0:
            self._claim()
        chosen = self._agree()
        if chosen is not None:
            state = read_state(chosen.path, [entry.path for entry in chosen.manifest.files])
            apply(state, self._parts, self._environment.rank)
        step = chosen.step if chosen else 0
        path = str(chosen.path) if chosen else None
        self._resumed = self._newest = chosen
        self._events.write("restored", step=step, path=path, seconds=round(time.monotonic() - started, 6))
        if chosen is None and self._environment.rank == 0:
            complain(f"no checkpoint to restore in {self.directory}: training starts from step 0")
        return step

    def _build(self, folder: Path, step: int, files: Optional[Callable[[Path], None]]) -> Checkpoint:
        write_state(folder, capture(self._parts, step, self._environment.rank))
        if files is not None:
            files(folder)
        manifest = seal(folder, self._environment, step)
        # Again, as building takes long: another attempt may have come meanwhile.
        self._claim()
        return commit(folder, self.directory, manifest)

    def _claim(self) -> None:
        """Take the directory once; from then on only see that it still is ours."""
        claim = check_lease if self._claimed else take_lease
        claim(self.directory, self._environment.job, self._environment.attempt_number)
        self._claimed = True

    def _retain(self, saved: Checkpoint) -> None:
        if self._keep is None:
            return
        resumed = self._resumed
        held = resumed.path if resumed is not None and resumed.step >= saved.step else None
        try:
            remove_older(self.directory, saved, self._keep, held, self._trusted)
        except OSError as error:
            complain(f"older checkpoints in {self.directory} are not removed: {error}")

    def _agree(self) -> Optional[Checkpoint]:
        """The same checkpoint on every rank: each finds it by the same rule, or rank 0 for all where they can talk."""
        distributed = sys.modules.get("torch.distributed")
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return self._choose()
        is_first = distributed.get_rank() == 0
        chosen = self._choose() if is_first else None
        box = [str(chosen.path) if chosen else None]
        distributed.broadcast_object_list(box, src=0)
        if is_first or box[0] is None:
            return chosen
        return _as_told(Path(box[0]))

    def _choose(self) -> Optional[Checkpoint]:
        chosen, rejected = self._search()
        for found in rejected:
            self._events.write("checkpoint-rejected", path=str(found.path), step=found.step, reason=found.reason)
            complain(f"checkpoint {found.path} is skipped: {found.reason}: {found.detail}")
        return chosen

    def _search(self) -> Tuple[Optional[Checkpoint], List[Verification]]:
        preferred = self._environment.resume_from
        if preferred is None:
            return newest_verified(self.directory)
        found = verify(preferred)
        if found.manifest is not None:
            return Checkpoint(preferred, found.manifest), []
        chosen, rejected = newest_verified(self.directory)
        return chosen, [found, *(other for other in rejected if other.path != preferred)]


def _as_told(path: Path) -> Checkpoint:
    """Rank 0's choice, with the state this rank is about to load read and compared here too."""
    found = verify(path, only=STATE_FILES)
    if found.manifest is None:
        raise CheckpointError(f"rank 0 restores {path}, which this rank cannot: {found.reason}: {found.detail}")
    return Checkpoint(path, found.manifest)
