"""A checkpoint of one file that holds everything, written by rank 0 and read by every rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, NamedTuple

from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.image import Image
from headway.sdk.job.manifest import FULL, Manifest
from headway.sdk.job.ranks import Ranks
from headway.sdk.job.reading import read_verified
from headway.sdk.job.state import STATE_FILES, Parts, apply, capture, cursor, load_state, write_state


class Written(NamedTuple):
    """What a manifest says of a snapshot; `alike`: a digest that is the same where ranks stand at the same data."""

    layout: Dict[str, Any]
    random: str
    data: Any
    alike: str = ""


class Whole:
    """The full state as `state.pt`, or `state.pickle` without torch."""

    def __init__(self, parts: Parts, ranks: Ranks) -> None:
        self._parts = parts
        self._ranks = ranks

    def write(self, image: Image, step: int) -> Written:
        """Copy the state into the image."""
        image.clear()
        state = capture(self._parts.stateful(), self._parts.extra, step, self._ranks.rank)
        return Written(dict(FULL), write_state(image, "state", state), cursor(state))

    def read(self, folder: Path, manifest: Manifest) -> Dict[str, Any]:
        """The state, once its hash was right; raises Rejected where it was not, CheckpointError where there is none."""
        files = {entry.path: entry for entry in manifest.files}
        name = next((name for name in STATE_FILES if name in files), None)
        if name is None:
            raise CheckpointError(f"{folder} holds no {STATE_FILES[0]}: it was not saved by this SDK")
        return read_verified(folder, files[name], lambda file: load_state(file, name))

    def apply(self, state: Dict[str, Any]) -> None:
        """Put it back, cut to this rank's share where the model is sharded."""
        parts, extra, rank = self._parts, self._parts.extra, self._ranks.rank
        if not is_sharded(parts.model):
            return apply(state, parts.stateful(), extra, rank)
        from headway.sdk.job.sharded import load_full

        load_full(parts.model, parts.optimizer, state)
        return apply(state, parts.own(), extra, rank)


def is_sharded(model: Any) -> bool:
    """Whether any parameter is a share of a larger tensor, as under FSDP2."""
    parameters = model.parameters() if hasattr(model, "parameters") else ()
    return any(type(parameter).__name__ == "DTensor" or hasattr(parameter, "device_mesh") for parameter in parameters)
