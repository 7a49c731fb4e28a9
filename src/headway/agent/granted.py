"""Which cards an attempt really has on this node, where not the order but a batch system has chosen them. Pure.

Whoever starts the agent tells it in two variables, which no rank gets: `HEADWAY_CARDS`, the node's own numbers of the
cards, and `HEADWAY_VISIBLE`, the numbers under which programs and the maker's tool see the same cards, in the same
order; they differ where a cgroup hides the other cards. Without them the order's word holds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from headway.agent.order import Order


def granted(order: Order, environment: Mapping[str, str]) -> dict[int, int]:
    """The number under which a card is seen → the node's own number of it."""
    cards = _numbers(environment.get("HEADWAY_CARDS", ""))
    if not cards:
        return {device: device for device in order.devices}
    seen = _numbers(environment.get("HEADWAY_VISIBLE", ""))
    return dict(zip(seen if len(seen) == len(cards) else cards, cards))  # noqa: B905 - Python 3.9


def _numbers(text: str) -> list[int]:
    """`0,3` → [0, 3]; nothing where a card is not named by its number (a UUID)."""
    words = text.split(",")
    return [int(word) for word in words] if all(word.isdigit() for word in words) else []
