"""How the ranks of one training agree on something: over a gloo group of their own, or not at all where there is none.

What they say here never mixes with the training's own collectives. Every rank has to call the same things in the same
order.
"""

from __future__ import annotations

import sys
from typing import Any, List, Optional


class Ranks:
    """The ranks that can talk to each other."""

    def __init__(self, rank: int, size: int, group: Any = None) -> None:
        self.rank = rank
        self.size = size
        self.group = group

    def gather(self, value: Any) -> List[Any]:
        """Every rank's value, in the order of ranks."""
        if self.group is None:
            return [value]
        values: List[Any] = [None] * self.size
        _distributed().all_gather_object(values, value, group=self.group)
        return values

    def share(self, value: Any) -> Any:
        """Rank 0's value on every rank."""
        if self.group is None:
            return value
        box = [value]
        _distributed().broadcast_object_list(box, src=0, group=self.group)
        return box[0]


def ranks_that_talk() -> Optional[Ranks]:
    """All ranks where torch.distributed is initialised, else None; every rank has to ask."""
    if not can_talk():
        return None
    distributed = _distributed()
    group = distributed.new_group(backend="gloo")
    return Ranks(distributed.get_rank(), distributed.get_world_size(), group)


def can_talk() -> bool:
    """Whether the program has initialised torch.distributed."""
    distributed = _distributed()
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def _distributed() -> Any:
    return sys.modules.get("torch.distributed")
