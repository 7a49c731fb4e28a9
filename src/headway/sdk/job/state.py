"""The training state as one file: what the program handed over, its random numbers and its own values.

Saved with torch where the program has it, else with pickle. Like the program itself such a file is code to whoever
loads it: only a rank that trains does, only after it verified; the server never.
"""

from __future__ import annotations

import pickle
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Collection, Dict, MutableMapping, Optional

from headway.sdk.job.checkpoint import CheckpointError

TORCH_FILE = "state.pt"
PICKLE_FILE = "state.pickle"
STATE_FILES = (TORCH_FILE, PICKLE_FILE)


@dataclass(frozen=True)
class Parts:
    """What makes up the state: objects with `state_dict` and `load_state_dict`, and the program's own values."""

    model: Any = None
    optimizer: Any = None
    scheduler: Any = None
    extra: Optional[MutableMapping[str, Any]] = None

    def stateful(self) -> Dict[str, Any]:
        """The objects that keep state, by name; a model wrapped for data parallelism stands for the one inside."""
        named = {"model": _unwrapped(self.model), "optimizer": self.optimizer, "scheduler": self.scheduler}
        return {name: part for name, part in named.items() if part is not None}


def capture(parts: Parts, step: int, rank: int) -> Dict[str, Any]:
    """The state now; tensors are those in use, not copies."""
    state: Dict[str, Any] = {name: part.state_dict() for name, part in parts.stateful().items()}
    extra = dict(parts.extra) if parts.extra is not None else None
    return {**state, "extra": extra, "step": step, "rank": rank, "random": _random_state()}


def write_state(folder: Path, state: Dict[str, Any]) -> None:
    """Write the state into a checkpoint being built."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.save(state, folder / TORCH_FILE)
        return
    with open(folder / PICKLE_FILE, "xb") as file:
        pickle.dump(state, file, protocol=4)


def read_state(folder: Path, verified: Collection[str]) -> Dict[str, Any]:
    """The state in a checkpoint whose files `verified`, tensors on the CPU; CheckpointError when none is among them."""
    if not set(STATE_FILES).intersection(verified):
        raise CheckpointError(f"{folder} holds no {TORCH_FILE}: it was not saved by this SDK")
    if TORCH_FILE in verified:
        import torch

        state: Dict[str, Any] = torch.load(folder / TORCH_FILE, map_location="cpu", weights_only=False)
        return state
    with open(folder / PICKLE_FILE, "rb") as file:
        loaded: Dict[str, Any] = pickle.load(file)
        return loaded


def apply(state: Dict[str, Any], parts: Parts, rank: int) -> None:
    """Put the state back; random numbers only on the rank they were saved by, as ranks must not draw the same ones."""
    for name, part in parts.stateful().items():
        if name not in state:
            raise CheckpointError(f"the checkpoint holds no {name}: it was saved without one")
        part.load_state_dict(state[name])
    if parts.extra is not None:
        parts.extra.update(state["extra"] or {})
    if state["rank"] == rank:
        _restore_random(state["random"])


def _unwrapped(model: Any) -> Any:
    return model.module if type(model).__name__ in ("DistributedDataParallel", "DataParallel") else model


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
