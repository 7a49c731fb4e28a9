"""What a checkpoint carries over to another pool or another number of ranks, and what it cannot: said before anybody
tries. Decides by what the checkpoint says of itself; never opens a file of it.
"""

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


class Form(StrEnum):
    """How a checkpoint is laid out, which says what of it another number of ranks can load.

    `whole`: one state of everything; `parts`: one for each rank, in torch's own layout; `resharded`: shards that torch
    DCP lays out anew by itself; `grid`: one for each place of one copy of the model, whose parallel layout stays;
    `zero`: an optimizer that DeepSpeed cut for so many ranks; `file`: whatever the program put there.
    """

    WHOLE = "whole"
    PARTS = "parts"
    RESHARDED = "resharded"
    GRID = "grid"
    ZERO = "zero"
    FILE = "file"


OWN = "headway"
"""The writer of what the in-job SDK saved; all others are frameworks."""
COUNTS_SAMPLES = frozenset({"megatron"})
"""Writers that note how many samples all ranks have read together."""
KEEPS_POSITION = frozenset({"trainer"})
"""Writers that read on after as many batches as had been read."""
KEEPS_RANDOM = frozenset({"trainer", "accelerate", "megatron"})


@dataclass(frozen=True, slots=True)
class Saved:
    """What a checkpoint says of itself. `world`: the ranks that saved it; `copy`: over how many of them one copy of the
    model is spread; `writer`: a framework, or `OWN`."""

    step: int
    world: int
    form: Form
    copy: int = 1
    writer: str = OWN


def carry(saved: Saved, before: Site, after: Site) -> tuple[Carry, ...]:
    """The list that a person reads before moving a job; `before` is where its last attempt ran."""
    return (_ranks(saved, after), _data(saved, after), _random(saved, after), _devices(before, after))


def _ranks(saved: Saved, after: Site) -> Carry:
    told: dict[str, Param] = {"before": saved.world, "after": after.world, "copy": saved.copy}
    told["copies"] = after.world // saved.copy
    if saved.world == after.world:
        return Carry("world", Carried.YES, "carry-world-same", told)
    if saved.form is Form.GRID:
        fits = after.world % saved.copy == 0
        return Carry("world", Carried.YES if fits else Carried.NO, f"carry-world-grid{'' if fits else '-not'}", told)
    carried = {Form.WHOLE: Carried.YES, Form.RESHARDED: Carried.YES, Form.ZERO: Carried.NO}
    return Carry("world", carried.get(saved.form, Carried.UNSURE), f"carry-world-{saved.form}", told)


def _data(saved: Saved, after: Site) -> Carry:
    told: dict[str, Param] = {"before": saved.world, "after": after.world}
    if saved.writer in COUNTS_SAMPLES:
        return Carry("data", Carried.YES, "carry-data-samples", told)
    if saved.writer not in {OWN, *KEEPS_POSITION}:
        return Carry("data", Carried.UNSURE, "carry-data-program", told)
    same = saved.world == after.world
    return Carry("data", Carried.YES if same else Carried.UNSURE, f"carry-data-{'same' if same else 'other'}", told)


def _random(saved: Saved, after: Site) -> Carry:
    told: dict[str, Param] = {"before": saved.world, "after": after.world}
    if saved.writer not in {OWN, *KEEPS_RANDOM}:
        return Carry("random", Carried.UNSURE, "carry-random-program", told)
    if saved.world == after.world:
        return Carry("random", Carried.YES, "carry-random-same", told)
    return Carry("random", Carried.NO, "carry-random-other" if saved.writer == OWN else "carry-random-ranks", told)


def _devices(before: Site, after: Site) -> Carry:
    cards: dict[str, Param] = {"before": before.device_type, "after": after.device_type}
    if before.device_type == after.device_type:
        return Carry("cards", Carried.YES, "carry-cards-same", cards)
    if before.maker is after.maker:
        return Carry("cards", Carried.YES, "carry-cards-type", cards)
    return Carry("cards", Carried.UNSURE, "carry-cards-maker", cards)
