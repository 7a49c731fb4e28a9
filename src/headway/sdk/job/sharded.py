"""A checkpoint to which every rank gives its share, in the layout of torch.distributed.checkpoint below `state/`.

Model and optimizer are cut by torch, and put together again for any other number of ranks; what a rank has for itself
(random numbers, position in the data) lies in its own `rank-N.pt`. torch's own tools read `state/` as they read theirs.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystem
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)

from headway.sdk.job.checkpoint import CheckpointError, Rejected, verify
from headway.sdk.job.image import Image
from headway.sdk.job.manifest import FileEntry, Manifest
from headway.sdk.job.ranks import Ranks
from headway.sdk.job.reading import blamed, read_verified
from headway.sdk.job.refill import Refill
from headway.sdk.job.state import NoSecondHash, Parts, apply, capture, cursor, load_state, unwrapped, write_state
from headway.sdk.job.whole import Written

STATE = "state"
INDEX = f"{STATE}/.metadata"


class ImageFiles(FileSystem):  # type: ignore[misc]
    """The file system torch writes its shards to: an image in memory."""

    def __init__(self, image: Image) -> None:
        self._image = image

    @contextmanager
    def create_stream(self, path: Any, _mode: str) -> Iterator[Any]:
        name = os.path.basename(path)
        self._image.begin(f"{STATE}/{name[: -len('.tmp')] if name.endswith('.tmp') else name}")
        yield _Stream(self._image)

    def rename(self, path: Any, new_path: Any) -> None:
        """It has its name already."""

    def mkdir(self, path: Any) -> None:
        """A folder comes with its files."""

    def exists(self, _path: Any) -> bool:
        return False


class _Stream(io.RawIOBase):
    def __init__(self, image: Image) -> None:
        super().__init__()
        self._image = image

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        return self._image.write(block)

    def tell(self) -> int:
        return self._image.tell()


class ImageWriter(dcp.FileSystemWriter):  # type: ignore[misc]
    """Writes as torch does, into an image, and remembers what this rank wrote and where."""

    def __init__(self, image: Image) -> None:
        super().__init__(STATE, sync_files=False, thread_count=1)
        self.fs = ImageFiles(image)
        self.items: List[Any] = []
        self.written: Dict[Any, Any] = {}

    def write_data(self, plan: Any, planner: Any) -> Any:
        future = super().write_data(plan, planner)
        self.items = list(plan.items)
        self.written = {result.index: result.storage_data for result in future.value()}
        return future


class Shards:
    """The state in as many parts as there are ranks."""

    def __init__(self, parts: Parts, ranks: Ranks) -> None:
        self._parts = parts
        self._ranks = ranks

    def write(self, image: Image, step: int) -> Written:
        """Copy this rank's share into the image; every rank has to, as torch divides it among them."""
        shares = _shares(self._parts.model, self._parts.optimizer)
        if not shares:
            image.clear()
            return self._own_part(image, step, {"kind": "sharded"})
        before = image.kept
        values = before.values(shares) if before is not None else None
        if before is not None and values is not None and all(self._ranks.gather(True)):
            before.write(values)
        else:
            if values is None:
                self._ranks.gather(False)
            self._write_anew(image, shares)
        return self._own_part(image, step, {"kind": "sharded", **_mesh(self._parts.model)})

    def _own_part(self, image: Image, step: int, layout: Dict[str, Any]) -> Written:
        rank = self._ranks.rank
        state = capture(self._parts.own(), self._parts.extra, step, rank)
        own = write_state(image, f"rank-{rank:05d}", state)
        return Written(layout, own, cursor(state), _digest(state.get("data")))

    def _write_anew(self, image: Image, shares: Dict[str, Any]) -> None:
        image.clear()
        writer = ImageWriter(image)
        planner = DefaultSavePlanner()
        with NoSecondHash(torch):
            dcp.save(shares, storage_writer=writer, planner=planner, process_group=self._ranks.group)
        image.kept = Refill(image, planner, writer.items, writer.written)

    def read(self, folder: Path, manifest: Manifest) -> Dict[str, Any]:
        """This rank's own state; the shares are only verified, each file by one rank: they are read where they go."""
        files = {entry.path: entry for entry in manifest.files}
        shares = sorted(path for path in files if path.startswith(f"{STATE}/") and path != INDEX)
        mine = shares[self._ranks.rank :: self._ranks.size]
        found = verify(folder, only=mine)
        if not found.ok:
            raise Rejected(found.reason, found.detail)
        if INDEX in files:
            read_verified(folder, files[INDEX], _index)
        entry, name = self._own(folder, manifest)
        own = read_verified(folder, entry, lambda file: load_state(file, name))
        return {**own, "folder": folder / STATE}

    def apply(self, state: Dict[str, Any]) -> None:
        """Read the shares into model and optimizer, cut for as many ranks as there are now.

        Where torch cannot load what one rank needs, every rank raises the same: Rejected if the shares are to blame,
        and model and optimizer are then half filled; CheckpointError if they do not fit.
        """
        shares = _shares(self._parts.model, self._parts.optimizer)
        if not shares:
            return apply(state, self._parts.own(), self._parts.extra, self._ranks.rank)
        reader = dcp.FileSystemReader(state["folder"])
        group = self._ranks.group
        try:
            dcp.load(shares, storage_reader=reader, process_group=group, no_dist=group is None)
        except CheckpointException as error:
            raise _why_not(error, state["folder"]) from error
        _put_back(self._parts.model, self._parts.optimizer, shares)
        return apply(state, self._parts.own(), self._parts.extra, self._ranks.rank)

    def _own(self, folder: Path, manifest: Manifest) -> Tuple[FileEntry, str]:
        """The file of this rank, or of rank 0 where there are more ranks now."""
        if (
            self._parts.data is not None
            and manifest.world_size != self._ranks.size
            and not manifest.layout["same_data"]
        ):
            raise CheckpointError(
                f"{folder} was saved by {manifest.world_size} ranks at different places of their data, which cannot be "
                f"divided among {self._ranks.size}: give run.checkpoints() a `data` that is the same on every rank"
            )
        files = {entry.path: entry for entry in manifest.files}
        name = f"rank-{self._ranks.rank:05d}.pt"
        name = name if name in files else "rank-00000.pt"
        if name not in files:
            raise CheckpointError(f"{folder} holds no {name}: it was not saved by this SDK")
        return files[name], name


def load_full(model: Any, optimizer: Any, state: Dict[str, Any]) -> None:
    """Put a full state into a sharded model and its optimizer; every rank holds all of it and keeps its share."""
    options = StateDictOptions(full_state_dict=True)
    if optimizer is None:
        set_model_state_dict(model, state["model"], options=options)
        return
    named = _by_name(model, optimizer, state["optimizer"])
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=named, options=options)


def _index(file: io.RawIOBase) -> Dict[str, Any]:
    """Which share holds what, as torch reads it once more by itself; only whether it can be read counts here."""
    index = pickle.load(io.BufferedReader(file, 1 << 20))
    if not isinstance(index, Metadata):
        raise TypeError(f"not the index of torch.distributed.checkpoint but {type(index).__name__}")
    return {}


def _why_not(error: CheckpointException, folder: Path) -> Exception:
    """torch plans by the index, then reads the shares; the lowest rank that failed tells for all."""
    rank, (failure, _) = min(error.failures.items())
    if error.args[0] == "read":
        return blamed(failure, folder, f"{STATE} on rank {rank}")
    return CheckpointError(f"{folder} does not fit this model and optimizer: {failure}")


def _shares(model: Any, optimizer: Any) -> Dict[str, Any]:
    """This rank's tensors by their names in the whole model, those in use; none where the program hands over none."""
    if model is None:
        return {}
    if optimizer is None:
        return {"model": get_model_state_dict(unwrapped(model))}
    weights, moments = get_state_dict(unwrapped(model), optimizer)
    return {"model": weights, "optimizer": moments}


def _put_back(model: Any, optimizer: Any, shares: Dict[str, Any]) -> None:
    if optimizer is None:
        set_model_state_dict(unwrapped(model), shares["model"])
        return
    set_state_dict(unwrapped(model), optimizer, model_state_dict=shares["model"], optim_state_dict=shares["optimizer"])


def _by_name(model: Any, optimizer: Any, saved: Dict[str, Any]) -> Dict[str, Any]:
    """An optimizer's state, which counts parameters, by their names: in the order in which the optimizer holds them."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    held = [names[id(parameter)] for group in optimizer.param_groups for parameter in group["params"]]
    groups = [{**group, "params": [held[at] for at in group["params"]]} for group in saved["param_groups"]]
    return {"state": {held[at]: moments for at, moments in saved["state"].items()}, "param_groups": groups}


def _mesh(model: Any) -> Dict[str, Any]:
    """How the ranks are laid out, as the first sharded parameter says."""
    meshes = (getattr(parameter, "device_mesh", None) for parameter in model.parameters())
    mesh: Optional[Any] = next((mesh for mesh in meshes if mesh is not None), None)
    if mesh is None:
        return {}
    return {"mesh": list(mesh.shape), "mesh_names": list(mesh.mesh_dim_names or ())}


def _digest(data: Any) -> str:
    return hashlib.sha256(pickle.dumps(data)).hexdigest()
