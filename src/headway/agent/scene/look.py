"""One look at the ranks of this node, in a thread of its own: nothing of it may hold up the loop, or a rank.

Whatever cannot be seen is left out. A look ends within half a minute, whatever hangs.
"""

from __future__ import annotations

import _thread
import json
import os
import time

from headway.agent.scene import collectives, kernel, network, stacks, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headway.agent.order import Order
    from headway.agent.ranks.processes import Process
    from headway.agent.scene.place import Place

_MOST_BYTES = 2 << 20


class Look:
    """`kind` is `stall` (everything), `pace` (collectives only) or `exit` (the place, as a rank broke).

    `fd` is readable once it is done.
    """

    def __init__(
        self, order: Order, directory: str, place: Place, ordered: Mapping[str, Any], running: Mapping[int, int]
    ) -> None:
        """`running`: pid -> rank of the processes that the agent itself started."""
        self.name = str(ordered["look"])
        self._kind = str(ordered.get("kind") or "stall")
        self._order = order
        self._directory = directory
        self._place = place
        self._running = dict(running)
        self._scene: dict[str, Any] = {"look": self.name, "kind": self._kind, "at": time.time()}
        self.fd, self._wake = os.pipe()
        _thread.start_new_thread(self._work, ())

    def collect(self) -> dict[str, Any]:
        """The scene, once `fd` is readable."""
        os.read(self.fd, 1)
        os.close(self.fd)
        os.close(self._wake)
        return self._scene

    def _work(self) -> None:
        try:
            self._look()
        except Exception as error:  # a look that fails is told as such: the server waits for it
            self._scene["problem"] = f"{type(error).__name__}: {error}"
        os.write(self._wake, b"!")

    def _look(self) -> None:
        if self._kind == "exit":
            self._scene.update(self._place.seen())
            self._scene["kernel"] = kernel.said()
            self._scene["ranks"] = []
            return
        trees = tree.of_ranks(self._order, self._running)
        answers = collectives.ask(self._order, self._directory, self.name, self._kind)
        ranks: list[dict[str, Any]] = [{"rank": rank, "processes": [], "stacks": []} for rank in trees]
        if self._kind == "stall":
            ranks = [self._rank(rank, processes) for rank, processes in trees.items()]
            self._scene.update(self._place.seen())
            self._scene["kernel"] = kernel.said()
            self._scene["links"] = network.links(trees)
            self._scene["sockets"] = network.sockets(trees)
            self._scene["hosts"] = network.reach(trees, self._scene["sockets"])
        told = answers.collect(list(trees) if self._order.world_size > 1 else [])
        self._scene["ranks"] = _bounded([{**one, "collectives": told.get(one["rank"])} for one in ranks])

    def _rank(self, rank: int, processes: list[Process]) -> dict[str, Any]:
        seen = [tree.describe(process) for process in processes]
        return {"rank": rank, "processes": seen, "stacks": stacks.take(self._order, self._directory, rank, processes)}


def _bounded(ranks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Many ranks share the room there is: stacks beyond it are cut, their innermost frames kept."""
    room = _MOST_BYTES // max(1, len(ranks))
    for rank in ranks:
        for stack in rank.get("stacks", ()):
            stack["text"] = stack["text"][: room // (2 * len(rank["stacks"]))]
        if len(json.dumps(rank)) > room:
            rank["collectives"] = None
    return ranks
