"""Who has not come to a collective that the others wait in, by the ranks' flight recorders; and who comes late to all.

Within a process group collectives are numbered: the rank that has enqueued fewest is the one waited for. Where all have
enqueued the same number but not the same operation, the program disagrees with itself.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from headway.diagnosis.hang.scene import Collective, Collectives

FEWEST_SHARED = 8
NEWEST = 24
"""What lies further back may be from before a rank became slow."""
LATE_SHARE = 0.25
LATE_S = 0.02
LATE_TIMES = 3
MOSTLY = 0.7
APART = 1.5
"""Late once, a rank is late to all collectives of that step at once; a slow rank is late again, later."""


@dataclass(frozen=True, slots=True)
class Behind:
    """These ranks have not joined collective `seq` of `group`, an `operation` that the others wait in."""

    ranks: tuple[int, ...]
    group: str
    seq: int
    operation: str


@dataclass(frozen=True, slots=True)
class Desync:
    """At collective `seq` of `group` these ranks, the fewer, call something else than the others."""

    ranks: tuple[int, ...]
    group: str
    seq: int
    operation: str
    others: str


@dataclass(frozen=True, slots=True)
class Late:
    """This rank comes last to its peers' collectives, by `seconds` (median); one follows the other every `period_s`."""

    rank: int
    seconds: float
    period_s: float


def behind(told: Mapping[int, Collectives]) -> Behind | None:
    """The ranks with the fewest collectives of a group, where others have more; of several groups the fewest ranks."""
    found: list[Behind] = []
    for group, reached in _reached(told).items():
        least, most = min(reached.values()), max(reached.values())
        if least < most:
            ranks = tuple(sorted(rank for rank, seq in reached.items() if seq < most))
            lowest = tuple(rank for rank in ranks if reached[rank] == least)
            found.append(Behind(lowest, group, least + 1, _operation(told, group, least + 1)))
    return min(found, key=lambda one: len(one.ranks), default=None)


def desync(told: Mapping[int, Collectives]) -> Desync | None:
    """The first collective at which ranks of a group differ in operation or size; no ranks where no side is fewer."""
    calls: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
    for rank, collectives in told.items():
        for one in collectives.newest:
            if one.collective_seq_id is not None and not one.is_p2p:
                calls[one.group, one.collective_seq_id][rank] = f"{one.profiling_name} {one.sizes}"
    for (group, seq), made in sorted(calls.items()):
        kinds = Counter(made.values())
        if len(kinds) > 1:
            (most, size), *_ = kinds.most_common(1)
            few = tuple(sorted(rank for rank, call in made.items() if call != most))
            return Desync(few if len(few) < size else (), group, seq, made[few[0]], most)
    return None


def late(told: Mapping[int, Collectives]) -> Late | None:
    """The rank that keeps the others waiting at most of the collectives they share, and for long; None where none does.

    Compares the ranks' clocks: across nodes it sees no less than these differ.
    """
    arrivals = _arrivals(told)
    shared = [ranks for ranks in arrivals if len(ranks) == len(told)][-NEWEST:]
    if len(told) < 2 or len(shared) < FEWEST_SHARED:
        return None
    begun = sorted(min(ranks.values()) for ranks in shared)
    period = (begun[-1] - begun[0]) / (len(begun) - 1) / 1e9
    waits = [_wait(ranks) for ranks in shared]
    lost = [one for one in waits if one.seconds >= max(LATE_S, LATE_SHARE * period)]
    if len(lost) < LATE_TIMES or sum(one.seconds for one in lost) < LATE_SHARE * period * len(shared):
        return None
    rank, times = Counter(one.rank for one in lost).most_common(1)[0]
    mine = [one for one in lost if one.rank == rank]
    seconds = median(one.seconds for one in mine)
    span = max(one.at for one in mine) - min(one.at for one in mine)
    return Late(rank, seconds, period) if times >= MOSTLY * len(lost) and span >= APART * seconds else None


@dataclass(frozen=True, slots=True)
class _Wait:
    """At one collective all but this rank waited so long for it, until `at` (seconds)."""

    rank: int
    seconds: float
    at: float


def _wait(arrivals: Mapping[int, int]) -> _Wait:
    last = max(arrivals, key=lambda rank: arrivals[rank])
    before = sorted(arrivals.values())[-2]
    return _Wait(last, (arrivals[last] - before) / 1e9, arrivals[last] / 1e9)


def _reached(told: Mapping[int, Collectives]) -> dict[str, dict[int, int]]:
    """How many collectives each rank has enqueued, by process group; groups of one rank are left out."""
    reached: dict[str, dict[int, int]] = defaultdict(dict)
    for rank, collectives in told.items():
        for group, status in collectives.groups.items():
            seq = _number(status.get("last_enqueued_collective"))
            if seq is not None:
                reached[str(group)][rank] = seq
    return {group: ranks for group, ranks in reached.items() if len(ranks) > 1}


def _operation(told: Mapping[int, Collectives], group: str, seq: int) -> str:
    newest = [one for each in told.values() for one in each.newest]
    names = [one.profiling_name for one in newest if (one.group, one.collective_seq_id) == (group, seq)]
    return next((name for name in names if name), "collective")


def _arrivals(told: Mapping[int, Collectives]) -> list[dict[int, int]]:
    found: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for rank, collectives in told.items():
        for one in collectives.newest:
            if _counts(one):
                assert one.collective_seq_id is not None
                assert one.time_created_ns is not None
                found[one.group, one.collective_seq_id][rank] = one.time_created_ns
    return [found[key] for key in sorted(found, key=lambda key: key[1])]


def _counts(one: Collective) -> bool:
    return one.collective_seq_id is not None and one.time_created_ns is not None and not one.is_p2p


def _number(value: object) -> int | None:
    try:
        return int(str(value))
    except ValueError:
        return None
