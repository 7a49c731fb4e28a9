"""The training state as one file: what the program handed over, its random numbers and its own values.

Written with torch where the program has it, else with pickle. Like the program itself such a file is code to whoever
loads it: only a rank that trains does; the server never.
"""

from __future__ import annotations

import io
import json
import pickle
import random
import sys
from dataclasses import dataclass
from typing import Any, Dict, MutableMapping, Optional

from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.image import Image

TORCH_FILE = "state.pt"
PICKLE_FILE = "state.pickle"
STATE_FILES = (TORCH_FILE, PICKLE_FILE)
MAX_CURSOR = 4096


@dataclass(frozen=True)
class Parts:
    """What makes up the state: objects with `state_dict` and `load_state_dict`, and the program's own values."""

    model: Any = None
    optimizer: Any = None
    scheduler: Any = None
    extra: Optional[MutableMapping[str, Any]] = None
    data: Any = None

    def stateful(self) -> Dict[str, Any]:
        """The objects that keep state, by name; a model wrapped for data parallelism stands for the one inside."""
        named = {"model": unwrapped(self.model), "optimizer": self.optimizer, **self.own()}
        return {name: part for name, part in named.items() if part is not None}

    def own(self) -> Dict[str, Any]:
        """Those that are never cut into shards."""
        named = {"scheduler": self.scheduler, "data": self.data}
        return {name: part for name, part in named.items() if part is not None}


def capture(
    stateful: Dict[str, Any], extra: Optional[MutableMapping[str, Any]], step: int, rank: int
) -> Dict[str, Any]:
    """The state now; tensors are those in use, not copies."""
    state: Dict[str, Any] = {name: part.state_dict() for name, part in stateful.items()}
    own = dict(extra) if extra is not None else None
    return {**state, "extra": own, "step": step, "rank": rank, "random": _random_state()}


def cursor(state: Dict[str, Any]) -> Any:
    """Where the data stood, as a manifest can say it; None where JSON cannot, or not briefly."""
    try:
        text = json.dumps(state.get("data"))
    except (TypeError, ValueError, RecursionError):
        return None
    return json.loads(text) if len(text) <= MAX_CURSOR else None


def write_state(image: Image, name: str, state: Dict[str, Any]) -> str:
    """Write the state into an image as the file `name` with the suffix of who wrote it; returns the file's name."""
    torch = sys.modules.get("torch")
    file = f"{name}.{'pickle' if torch is None else 'pt'}"
    image.begin(file)
    if torch is None:
        pickle.dump(state, image, protocol=4)
    else:
        with NoSecondHash(torch):
            torch.save(state, image)
    return file


def load_state(file: io.RawIOBase, name: str) -> Dict[str, Any]:
    """The state in an open file, tensors on the CPU; raises whatever torch or pickle do."""
    if name.endswith(".pt"):
        import torch

        state: Dict[str, Any] = torch.load(file, map_location="cpu", weights_only=False)
        return state
    loaded: Dict[str, Any] = pickle.load(io.BufferedReader(file, 1 << 20))
    return loaded


def apply(state: Dict[str, Any], parts: Dict[str, Any], extra: Optional[MutableMapping[str, Any]], rank: int) -> None:
    """Put the state back; random numbers only on the rank they were saved by, as ranks must not draw the same ones."""
    for name, part in parts.items():
        if name not in state:
            raise CheckpointError(f"the checkpoint holds no {name}: it was saved without one")
        part.load_state_dict(state[name])
    if extra is not None:
        extra.update(state["extra"] or {})
    if state["rank"] == rank:
        _restore_random(state["random"])


def unwrapped(model: Any) -> Any:
    """The model inside a wrapper for data parallelism, which adds nothing to its state but a prefix."""
    return model.module if type(model).__name__ in ("DistributedDataParallel", "DataParallel") else model


class NoSecondHash:
    """torch hashes each tensor it writes; the file is hashed as a whole, and not while the training waits."""

    def __init__(self, torch: Any) -> None:
        self._options = torch.serialization

    def __enter__(self) -> None:
        if hasattr(self._options, "set_crc32_options"):
            self._before = self._options.get_crc32_options()
            self._options.set_crc32_options(False)

    def __exit__(self, *_: object) -> None:
        if hasattr(self._options, "set_crc32_options"):
            self._options.set_crc32_options(self._before)


def _random_state() -> Dict[str, Any]:
    found: Dict[str, Any] = {"python": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        found["numpy"] = numpy.random.get_state()
    if torch is not None:
        found["torch"] = torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found["cuda"] = torch.cuda.get_rng_state_all()
    return found


def _restore_random(saved: Dict[str, Any]) -> None:
    random.setstate(saved["python"])
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and "numpy" in saved:
        numpy.random.set_state(saved["numpy"])
    if torch is not None and "torch" in saved:
        torch.set_rng_state(saved["torch"])
        if "cuda" in saved and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(saved["cuda"])
