"""What the ranks' flight recorders hold: asked by a file in each rank's directory, answered there by the in-job SDK.

A rank whose interpreter cannot run does not answer: it is waited for a few seconds, longer where nobody hangs.
"""

from __future__ import annotations

import json
import os
import time

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from headway.agent.order import Order

_PATIENCE_S = {"stall": 4.0, "pace": 15.0}
_MOST_BYTES = 256 << 10


class Answers:
    """The answers to one look, as they come."""

    def __init__(self, order: Order, directory: str, look: str, kind: str) -> None:
        self._order = order
        self._directory = directory
        self._look = look
        self._deadline = time.monotonic() + _PATIENCE_S.get(kind, 4.0)

    def collect(self, ranks: Sequence[int]) -> dict[int, Any]:
        """What each rank told, of those that did before the time was up."""
        told: dict[int, Any] = {}
        while True:
            for rank in set(ranks) - set(told):
                answer = self._answer(rank)
                if answer is not None and answer.get("look") == self._look:
                    told[rank] = answer.get("collectives")
            if len(told) == len(ranks) or time.monotonic() > self._deadline:
                return told
            time.sleep(0.05)

    def _answer(self, rank: int) -> dict[str, Any] | None:
        torchrun = self._order.launcher == "torchrun"
        folder = f"rank-{self._order.ranks[0].rank if torchrun else rank}"
        name = f"collectives-{rank}.json" if torchrun else "collectives.json"
        owner = self._order.user.uid if self._order.user else None
        raw = files.read_foreign(os.path.join(self._directory, folder, name), owner, 0, _MOST_BYTES)
        try:
            answer = json.loads(raw) if raw else None
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None


def ask(order: Order, directory: str, look: str, kind: str) -> Answers:
    """Ask every rank of the node."""
    witnessed = order.ranks[:1] if order.launcher == "torchrun" else order.ranks
    for rank in witnessed if order.world_size > 1 else ():
        try:
            files.write_json(os.path.join(directory, f"rank-{rank.rank}", "look.json"), {"look": look}, 0o644)
        except OSError:
            continue
    return Answers(order, directory, look, kind)
