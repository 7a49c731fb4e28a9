"""The looks that the server orders, each once and one after the other; nothing is loaded before the first."""

from __future__ import annotations

import selectors

from headway.agent.scene.place import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from headway.agent.order import Order
    from headway.agent.scene.look import Look


class Looks:
    """What was ordered by name: an order comes again until its scene has arrived."""

    def __init__(self, order: Order, directory: str, selector: selectors.BaseSelector) -> None:
        self._order = order
        self._directory = directory
        self._selector = selector
        self._place: Place | None = None
        self._known: set[str] = set()
        self._under_way: Look | None = None

    def begin(self) -> None:
        """The ranks are about to be started: what the place is like before."""
        self._place = Place(self._order, self._directory)

    @property
    def busy(self) -> bool:
        """Whether a look is under way: what it sees must still be told."""
        return self._under_way is not None

    def order(
        self, ordered: Sequence[dict[str, Any]], running: Mapping[int, int], seen: Callable[[dict[str, Any]], None]
    ) -> None:
        """Begin the first that is new, unless one is under way; `seen` gets its scene."""
        new = [one for one in ordered if str(one["look"]) not in self._known]
        if not new or self._under_way is not None or self._place is None:
            return
        from headway.agent.scene.look import Look

        look = self._under_way = Look(self._order, self._directory, self._place, new[0], running)
        self._known.add(look.name)
        self._selector.register(look.fd, selectors.EVENT_READ, lambda: self._done(look, seen))

    def _done(self, look: Look, seen: Callable[[dict[str, Any]], None]) -> None:
        self._selector.unregister(look.fd)
        self._under_way = None
        seen(look.collect())
