"""Saving and restoring a training's state as verified checkpoints (format: `manifest`, trust: `checkpoint`).

By itself rank 0 writes the full state while it waits, as all ranks of a data-parallel job hold the same; the others
save nothing and wait for nothing. In the background, and where the model is sharded, every rank gives its part; in the
background it only copies it to memory and trains on, while a process beside it writes the copy. Restoring is the same
decision on every rank.
"""

from __future__ import annotations

import atexit
import json
import platform
import secrets
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from os import getpid
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Union

from headway.sdk.job import outage
from headway.sdk.job.background import Background
from headway.sdk.job.checkpoint import Checkpoint, CheckpointError, checkpoint_folders
from headway.sdk.job.commit import Order, begin_folder
from headway.sdk.job.copies import Copies, Saved
from headway.sdk.job.disk import Disk
from headway.sdk.job.environment import Environment
from headway.sdk.job.events import EventLog, PrintedEvents, complain
from headway.sdk.job.hashing import begin
from headway.sdk.job.image import Image
from headway.sdk.job.lease import check_lease, take_lease
from headway.sdk.job.local import LocalTier
from headway.sdk.job.ranks import AgreedStop, Ranks, can_talk, ranks_that_talk
from headway.sdk.job.refusals import in_words
from headway.sdk.job.restoring import Found, Reads, Search, all_verified, newest_held, published_in
from headway.sdk.job.staged import fetch_named, fetch_newer
from headway.sdk.job.state import Parts
from headway.sdk.job.stop import Stop
from headway.sdk.job.storage import storage_of
from headway.sdk.job.store import check_store
from headway.sdk.job.whole import Whole, Written, is_sharded
from headway.sdk.job.writer import Performer

Files = Callable[[Path], object]
Asks = Callable[[], Optional[Stop]]


@dataclass(frozen=True)
class Policy:
    """How checkpoints are made: `keep` None keeps all; `algorithm` hashes the state; `patience_s` is for ranks."""

    keep: Optional[int] = None
    background: bool = False
    algorithm: str = "crc32"
    patience_s: float = 600.0
    local: Optional[Path] = None
    store: Optional[str] = None

    def __post_init__(self) -> None:
        if self.keep is not None and self.keep < 1:
            raise ValueError(f"keep={self.keep}: at least the newest checkpoint is kept; None keeps all")
        if self.local is not None and not self.background:
            raise ValueError(f"local={str(self.local)!r}: snapshots on the node need background=True")
        if self.store is not None:
            check_store(self.store)
        begin(self.algorithm)


class Checkpoints:
    """The checkpoints of one training in one directory: `save` as often as you like, `restore` once before training."""

    def __init__(  # noqa: PLR0913 what a run hands over
        self,
        environment: Environment,
        events: Union[EventLog, PrintedEvents],
        parts: Parts,
        directory: Path,
        policy: Policy,
        stop: Asks,
        disk: Optional[Disk] = None,
    ) -> None:
        self.directory = directory
        self._environment = environment
        self._events = events
        self._parts = parts
        self._policy = policy
        self._heard = stop
        self._disk = disk or Disk()
        self._performer = Performer(directory, self._disk)
        self._local = LocalTier(policy.local, environment.job, environment.rank) if policy.local is not None else None
        self._background = Background(self._local) if policy.background else None
        is_first = environment.rank == 0
        self._copies = Copies(policy.store, environment.job, self._copied) if policy.store and is_first else None
        self._ranks: Optional[Ranks] = None
        self._agreed: Optional[AgreedStop] = None
        self._resumed: Optional[Checkpoint] = None
        self._newest: Optional[Checkpoint] = None
        self._saved_step: Optional[int] = None
        self._claimed = False
        if self._background is not None or self._copies is not None:
            atexit.register(self._leave)

    def save(self, step: int, files: Optional[Files] = None) -> Optional[Checkpoint]:
        """Save the state as that of `step`; None in the background, and on ranks other than 0 where only rank 0 saves.

        Without `background` the checkpoint is durable and verified once this returns. With it this returns when the
        state is copied; whatever fails later is raised by the next `save` or `wait`. `files` is called on rank 0 with
        the folder being built: what it writes there (an export, a tokenizer) belongs to the checkpoint. Saving the step
        just restored or saved does nothing. Raises CheckpointError when a newer attempt has taken the directory over or
        a rank stays away, OSError when the disk does not take it.
        """
        if self._environment.rank != 0 and not self._all_save():
            return None
        if self._saved_step == step:
            if self._background is not None:
                self._background.raise_failures()
            return self._newest
        try:
            return self._save(step, files)
        except OSError as error:
            told = in_words(error, self.directory)
            if told is error:
                raise
            raise told from error

    def _save(self, step: int, files: Optional[Files]) -> Optional[Checkpoint]:
        started = time.monotonic()
        self._events.write("saving", step=step)
        image = self._background.free_image() if self._background is not None else Image()
        order = self._snapshot(image, step, files)
        done = partial(self._done, order, started, time.monotonic())
        self._saved_step = step
        if self._background is not None:
            self._newest = None
            self._background.submit(order, image, done)
            return None
        try:
            self._newest = self._performer.perform(order, image.view())
        except BaseException:
            self._saved_step = None
            raise
        finally:
            image.close()
        done({"path": str(self._newest.path), "bytes": self._newest.manifest.bytes})
        return self._newest

    def wait(self) -> None:
        """Until everything handed to `save` is durable and copied; raises what went wrong with any of it."""
        self._wait()
        if self._copies is not None:
            self._copies.wait()

    def _wait(self) -> None:
        if self._background is not None:
            self._background.wait()
            self._background.raise_failures()

    def should_stop(self) -> Optional[Stop]:
        """As `run.should_stop`, with the same answer on every rank at the same call: all save and leave together.

        Every rank asks once a step; the answer comes a step later than the first rank has heard.
        """
        if self._agreed is None:
            self._agreed = AgreedStop(self._talking())
        return self._agreed.ask(self._heard())

    def restore(self) -> int:
        """Put back the newest state that verifies and return its step; 0, with nothing changed, when there is none.

        HEADWAY_RESUME_FROM comes first, then the directory, newest step first. What is damaged is skipped, and said.
        Where torch.distributed is initialised rank 0's choice holds for all.
        """
        found = self._restore(lambda folder, manifest: self._form(manifest.layout).read(folder, manifest))
        return found.step if found is not None else 0

    def newest(self) -> Optional[Checkpoint]:
        """The newest of which every file verifies, by the same rule as `restore`, for who puts it back by itself."""
        return self._restore(None)

    def _restore(self, reads: Optional[Reads]) -> Optional[Checkpoint]:
        started = time.monotonic()
        self._wait()
        self._together(self._claim_as_first)
        preferred = self._environment.resume_from
        if self._is_newest(preferred) and self._publish_left():
            preferred = None
        search = Search(self.directory, preferred, self._events, self._talking())
        put_back = self._put_back if reads is not None else None
        found = search.newest(reads or all_verified, put_back)
        staged = self._stage_back(found[0].step if found is not None else 0)
        if staged is not None:
            search = Search(self.directory, Path(staged["path"]), self._events, self._talking())
            found = search.newest(reads or all_verified, put_back)
        chosen = found[0] if found is not None else None
        step, path = (chosen.step, str(chosen.path)) if chosen is not None else (0, None)
        self._resumed = self._newest = chosen
        self._saved_step = chosen.step if chosen is not None else None
        size = chosen.manifest.bytes if chosen is not None else 0
        seconds = round(time.monotonic() - started, 6)
        where = storage_of(chosen.path) if chosen is not None else None
        copy = staged["copy"] if staged is not None and staged["path"] == path else None
        self._events.write("restored", step=step, path=path, seconds=seconds, bytes=size, storage=where, copy=copy)
        if self._copies is not None and chosen is not None and chosen.path.parent == self.directory:
            self._copies.submit(Saved(chosen.path, chosen.step, size, started))  # where a kill left it half copied
        if chosen is None and self._environment.rank == 0:
            complain(f"no checkpoint to restore in {self.directory}: training starts from step 0")
        return chosen

    def _put_back(self, found: Found) -> None:
        self._form(found[0].manifest.layout).apply(found[1])

    def _talking(self) -> Ranks:
        if self._ranks is None:
            self._ranks = ranks_that_talk(self._policy.patience_s)
        return self._ranks or Ranks(self._environment.rank, 1)

    def _all_save(self) -> bool:
        """Whether every rank gives its part, or rank 0 alone saves what all hold alike."""
        return can_talk() and (self._background is not None or is_sharded(self._parts.model))

    def _form(self, layout: Dict[str, Any]) -> Any:
        if layout.get("kind") != "sharded":
            return Whole(self._parts, Ranks(self._environment.rank, 1))
        from headway.sdk.job.sharded import Shards

        return Shards(self._parts, self._talking())

    def _together(self, start: Callable[[], Optional[str]]) -> Optional[str]:
        """Begin on every rank or on none: what keeps one from it is an error on all. Returns what rank 0 began."""
        began, failure = None, None
        try:
            began = start()
        except (CheckpointError, OSError) as error:
            failure = error
        said = self._talking().gather((began, str(failure) if failure is not None else None))
        if failure is not None:
            raise failure
        for rank, (_, why) in enumerate(said):
            if why is not None:
                raise CheckpointError(f"rank {rank}: {why}")
        first: Optional[str] = said[0][0]
        return first

    def _snapshot(self, image: Image, step: int, files: Optional[Files]) -> Order:
        """Copy the state into the image and let the program add its files; returns what is to be made of them."""
        start = partial(self._begin, step)
        all_save = self._all_save()
        folder = Path(str(self._together(start) if all_save else start()))
        form = self._form({"kind": "sharded" if all_save else "full"})
        try:
            written = form.write(image, step)
            if files is not None and self._environment.rank == 0:
                files(folder)
        except BaseException:
            if self._environment.rank == 0:
                with suppress(OSError):
                    self._disk.remove_tree(folder)
            raise
        return self._order(folder, step, image, written)

    def _begin(self, step: int) -> Optional[str]:
        """What went wrong before is heard now; rank 0 makes the folder to build in and says where."""
        if self._background is not None:
            self._background.raise_failures()
        outage.meet(self._environment.rank_dir, self.directory)
        if self._environment.rank != 0:
            return None
        self._claim_as_first()
        folder = self._building(f"step-{step:08d}")
        begin_folder(folder, self._disk)
        return str(folder)

    def _building(self, what: str) -> Path:
        """A new folder's name, by which a later attempt knows what it may sweep away."""
        here, unique = self._environment, f"{getpid()}-{secrets.token_hex(4)}"
        return self.directory / f".tmp-{here.job}.{here.attempt_number}-{what}-{unique}"

    def _order(self, folder: Path, step: int, image: Image, written: Written) -> Order:
        here, torch, resumed = self._environment, sys.modules.get("torch"), self._resumed
        held = resumed.path if resumed is not None and resumed.step >= step else None
        rank, ranks = (self._talking().rank, self._talking().size) if self._all_save() else (0, 1)
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
            rank=rank,
            ranks=ranks,
            world_size=here.world_size,
            algorithm=self._policy.algorithm,
            layout=written.layout,
            alike=written.alike,
            data=written.data,
            random=written.random,
            keep=self._policy.keep,
            held=str(held) if held is not None else None,
            patience_s=self._policy.patience_s,
            local=str(image.path) if image.path is not None else None,
        )

    def _is_newest(self, preferred: Optional[Path]) -> bool:
        """Whether going on from here is what was asked for: an older one is somebody's choice, to be obeyed."""
        if preferred is None or self._local is None:
            return True
        newest = checkpoint_folders(self.directory)[:1]
        return bool(self._talking().share([path.name for path in newest] == [preferred.name]))

    def _publish_left(self) -> bool:
        """Publish the newest snapshot that every rank still holds on its node, if it is newer than what is there."""
        if self._local is None:
            return False
        ranks = self._talking()
        held = {left.order.save: left for left in self._local.left() if left.order.ranks == ranks.size}
        published = ranks.share([(found.step, found.save) for found in published_in(self.directory)])
        save = newest_held(ranks.gather({save: left.order.step for save, left in held.items()}), published)
        if save is None:
            return False
        order, image = held[save]
        try:
            folder = str(self._together(partial(self._begin, order.step)))
            here = self._environment
            renewed = replace(order, folder=folder, directory=str(self.directory), attempt=here.attempt,
                              attempt_number=here.attempt_number, held=None, local=None)  # fmt: skip
            self._performer.perform(renewed, image)
            return True
        except (CheckpointError, OSError) as error:
            complain(f"the snapshot of step {order.step} on this node is not published: {error}")
            return False

    def _done(self, order: Order, started: float, copied: float, answer: Dict[str, Any]) -> None:
        """Tell of a checkpoint that is there, or complain of one that is not."""
        if "failed" in answer:
            complain(f"step {order.step} is not saved: {answer['failed']}")
            return
        if order.rank != 0:
            return
        seconds = round(time.monotonic() - started, 6)
        blocked = seconds if self._background is None else round(copied - started, 6)
        said = {"step": order.step, "path": answer["path"], "bytes": answer["bytes"]}
        said["storage"] = storage_of(self.directory)
        self._events.write("checkpoint-saved", **said, seconds=seconds, blocked=blocked)
        if self._copies is not None:
            self._copies.submit(Saved(Path(answer["path"]), order.step, answer["bytes"], started))

    def _copied(self, told: Dict[str, Any]) -> None:
        self._events.write("checkpoint-copied", **told)

    def _stage_back(self, step: int) -> Optional[Dict[str, str]]:
        """Fetch the newest copy of a later step than `step` from the store: by rank 0, and all hear of it."""
        if self._policy.store is None:
            return None
        if self._environment.world_size > 1 and self._talking().size == 1:
            raise CheckpointError(
                "with store=… several ranks go on from the same copy only if they can talk: "
                "initialise torch.distributed before restore()"
            )
        came = self._together(partial(self._fetch, step))
        return None if came is None else json.loads(came)

    def _fetch(self, step: int) -> Optional[str]:
        if self._copies is None:
            return None
        store, named = self._copies.store, self._environment.resume_from
        came = fetch_newer(store, self._environment.job, step, self._building("staged"), self._disk)
        if came is None and step == 0 and named is not None and not named.exists():
            came = fetch_named(store, named, self._building("staged"), self._disk)
        return came

    def _claim_as_first(self) -> None:
        """Rank 0 takes the directory once; from then on it only sees that it still is ours."""
        here = self._environment
        if here.rank != 0:
            return
        if self._claimed:
            check_lease(self.directory, here.job, here.attempt_number)
        else:
            take_lease(self.directory, here.job, here.attempt_number, self._disk)
        self._claimed = True

    def _leave(self) -> None:
        """A program that ends has its last checkpoints finished first."""
        try:
            self._wait()
        except (CheckpointError, OSError) as error:
            complain(f"the last checkpoint is not saved: {error}")
        else:
            if self._local is not None:
                self._local.discard()
        if self._background is not None:
            self._background.close()
        if self._copies is not None:
            self._copies.close()
