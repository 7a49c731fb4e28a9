"""How the ranks of one training agree on something: over a gloo group of their own, or not at all where there is none.

What they say here never mixes with the training's own collectives. Every rank has to call the same things in the same
order; one that does not come is an error on the others, after their patience.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any, Callable, List, Optional

from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.stop import Stop

REASONS = ("user", "preempted", "time-limit", "drill", "gang", "over", "signal", "stop")


class Ranks:
    """The ranks that can talk to each other; where `group` is None, this one alone."""

    def __init__(self, rank: int, size: int, group: Any = None) -> None:
        self.rank = rank
        self.size = size
        self.group = group

    def gather(self, value: Any) -> List[Any]:
        """Every rank's value, in the order of ranks."""
        if self.group is None:
            return [value]
        values: List[Any] = [None] * self.size
        self._patiently(lambda: _distributed().all_gather_object(values, value, group=self.group))
        return values

    def share(self, value: Any) -> Any:
        """Rank 0's value on every rank."""
        if self.group is None:
            return value
        box = [value]
        self._patiently(lambda: _distributed().broadcast_object_list(box, src=0, group=self.group))
        return box[0]

    def _patiently(self, talk: Callable[[], object]) -> None:
        try:
            talk()
        except RuntimeError as error:
            raise CheckpointError(
                f"rank {self.rank} waited for the other ranks to save or restore, and not all came: every rank has to "
                f"call save() and restore(), at the same step ({error})"
            ) from error


class AgreedStop:
    """The same answer on every rank at the same call, though the ranks hear of a stop at different steps.

    Each call sends what this rank has heard, and answers with what all had heard at the call before, which has arrived
    while the step went on: nothing waits.
    """

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._sent: Any = None
        self._told: Any = None
        self._agreed: Optional[Stop] = None

    def ask(self, heard: Optional[Stop]) -> Optional[Stop]:
        """The stop that all ranks now know of; `heard`: what this one knows."""
        if self._ranks.group is None:
            return heard
        if self._agreed is None:
            self._agreed = self._arrived(heard)
        if self._agreed is None:
            self._send(heard)
        return self._agreed

    def _send(self, heard: Optional[Stop]) -> None:
        torch, distributed = sys.modules["torch"], _distributed()
        named = heard.reason if heard is not None and heard.reason in REASONS else REASONS[-1]
        self._told = torch.tensor([0 if heard is None else 1 + REASONS.index(named)])
        self._sent = distributed.all_reduce(
            self._told, op=distributed.ReduceOp.MAX, group=self._ranks.group, async_op=True
        )

    def _arrived(self, heard: Optional[Stop]) -> Optional[Stop]:
        if self._sent is None:
            return None
        self._sent.wait()
        number = int(self._told.item())
        return (heard or Stop(REASONS[number - 1])) if number else None


def ranks_that_talk(patience_s: float) -> Optional[Ranks]:
    """All ranks where torch.distributed is initialised, else None; every rank has to ask."""
    if not can_talk():
        return None
    distributed = _distributed()
    group = distributed.new_group(backend="gloo", timeout=timedelta(seconds=patience_s))
    return Ranks(distributed.get_rank(), distributed.get_world_size(), group)


def can_talk() -> bool:
    """Whether the program has initialised torch.distributed."""
    distributed = _distributed()
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def _distributed() -> Any:
    return sys.modules.get("torch.distributed")
