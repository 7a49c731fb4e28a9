"""A card as a node's daemon found it: what an inventory is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardFound:
    """One card. `index` as its tool counts (a text where one board has several chips), `bus` its PCI address."""

    index: int | str | None
    name: str | None
    bus: str | None
    health: str | None
