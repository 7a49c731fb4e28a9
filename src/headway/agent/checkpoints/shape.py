"""How a framework's checkpoint is laid out, by the names of its files: what may change when it is loaded again.

`form`: `whole` (one state, any ranks load it), `resharded` (shards that torch DCP lays out anew), `grid` (a part for
each place of one copy of the model, which stays as it is), `zero` (an optimizer cut for so many ranks), `file`
(whatever the program put there). `ranks`: how many saved it, null where nothing tells. `copy`: over how many ranks one
copy of the model is spread. Reads no file; whether the checkpoint is whole is for its rule in `formats`.
"""

from __future__ import annotations

import re

from headway.agent.checkpoints import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.checkpoints.folder import Folder

WHOLE, RESHARDED, GRID, ZERO, FILE = "whole", "resharded", "grid", "zero", "file"
UNIVERSAL = "zero"
"""The folder that DeepSpeed's conversion puts its atoms in, which any number of ranks loads."""


def of_file(kind: str) -> dict[str, Any]:
    """One file of a series: Lightning writes a whole state, a program whatever it likes."""
    return _shape(WHOLE if kind == "lightning" else FILE)


def of_folder(kind: str, folder: Folder) -> dict[str, Any]:
    """A checkpoint that `kind`'s rule knew."""
    if kind == "megatron":
        return _megatron(folder)
    if kind == "deepspeed":
        return _deepspeed(folder)
    if kind == "dcp":
        return _shape(RESHARDED)
    return _trained(folder)


def _megatron(folder: Folder) -> dict[str, Any]:
    places = _places(folder.folders, formats.PARALLEL)
    return _shape(GRID, copy=len(places)) if places else _shape(RESHARDED)


def _deepspeed(folder: Folder) -> dict[str, Any]:
    """With ZeRO a file of the optimizer for each data-parallel rank of each model-parallel one."""
    if UNIVERSAL in folder.folders:
        return _shape(RESHARDED)
    cut = _places(folder.files, formats.OPTIMIZER)
    copy = len({place[-1] for place in cut or _places(folder.files, formats.MODEL)})
    return _shape(ZERO, ranks=len(cut), copy=copy) if cut else _shape(GRID, copy=copy)


def _trained(folder: Folder) -> dict[str, Any]:
    """HF Trainer's and accelerate's: random numbers for each rank, and the shards of FSDP or DeepSpeed inside."""
    ranks = max(1, len(_places(folder.files, formats.RANDOM)))
    for name in folder.folders:
        with folder.below(name) as inner:
            if _places(inner.files, formats.OPTIMIZER) or _places(inner.files, formats.MODEL):
                return {**_deepspeed(inner), "ranks": ranks}
            if formats.METADATA in inner.files:
                return _shape(RESHARDED, ranks=ranks)
    return _shape(WHOLE, ranks=ranks)


def _places(names: Any, pattern: re.Pattern[str]) -> set[tuple[int, ...]]:
    matches = (pattern.fullmatch(name) for name in names)
    return {tuple(int(part or 0) for part in match.groups()) for match in matches if match}


def _shape(form: str, ranks: int | None = None, copy: int = 1) -> dict[str, Any]:
    return {"form": form, "ranks": ranks, "copy": copy}
