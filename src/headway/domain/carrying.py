"""What a checkpoint carries over to another pool or another number of ranks, and what it cannot: said before anybody
tries. Decides by what the checkpoint says of itself; never opens a file of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from headway.domain.errors import Param
from headway.domain.resources import Maker


class Carried(StrEnum):
    """Whether something is the same after the move; `unsure` where that is for the program to say."""

    YES = "yes"
    UNSURE = "unsure"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Carry:
    """One thing and whether it is carried over; `code` is a message, `params` fill it."""

    what: str
    carried: Carried
    code: str
    params: dict[str, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Site:
    """Where a job runs: so many ranks, on devices of a type of a maker, under an engine."""

    world: int
    engine: str
    device_type: str
    maker: Maker


@dataclass(frozen=True, slots=True)
class Saved:
    """What a checkpoint says of itself. `whole`: one state of everything, not a part for each rank."""

    step: int
    world: int
    whole: bool


def carry(saved: Saved, before: Site, after: Site) -> tuple[Carry, ...]:
    """The list that a person reads before moving a job; `before` is where its last attempt ran."""
    return (*_ranks(saved, after), *_devices(before, after))


def _ranks(saved: Saved, after: Site) -> Iterator[Carry]:
    worlds: dict[str, Param] = {"before": saved.world, "after": after.world}
    if saved.world == after.world:
        yield Carry("world", Carried.YES, "carry-world-same", worlds)
        yield Carry("data", Carried.YES, "carry-data-same", worlds)
        yield Carry("random", Carried.YES, "carry-random-same", worlds)
        return
    if saved.whole:
        yield Carry("world", Carried.YES, "carry-world-whole", worlds)
    else:
        yield Carry("world", Carried.UNSURE, "carry-world-parts", worlds)
    yield Carry("data", Carried.UNSURE, "carry-data-other", worlds)
    yield Carry("random", Carried.NO, "carry-random-other", worlds)


def _devices(before: Site, after: Site) -> Iterator[Carry]:
    cards: dict[str, Param] = {"before": before.device_type, "after": after.device_type}
    if before.device_type == after.device_type:
        yield Carry("cards", Carried.YES, "carry-cards-same", cards)
    elif before.maker is after.maker:
        yield Carry("cards", Carried.YES, "carry-cards-type", cards)
    else:
        yield Carry("cards", Carried.UNSURE, "carry-cards-maker", cards)
    engines: dict[str, Param] = {"before": before.engine, "after": after.engine}
    same = before.engine == after.engine
    yield Carry("path", Carried.YES if same else Carried.UNSURE, f"carry-path-{'same' if same else 'other'}", engines)
