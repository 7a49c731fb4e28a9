"""What ranks that wait for each other tell: whose collective is behind, whose differs, who never reported.

By absence, by sequence number and by the odd operation; a rank is named only where exactly one can be meant.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.world import World

_WORK = re.compile(r"Work\w{2,8}\(SeqNum=(\d{1,12}), OpType=(\w{1,40})(?:, NumelIn=(\d{1,16}))?")
_LAST = re.compile(r"last completed (?:\w{2,8} )?work: (-?\d{1,12})")
_INDEX = re.compile(r"(?i)\b(?:tag|index|opindex)[\[:= ]{1,2}(\d{1,9})\b")
_RAS = re.compile(r"(\d{1,7}) ranks? (?:have|has) launched up to operation (\d{1,12})")
_RAS_RANK = re.compile(r"\s{0,8}Rank (\d{1,7}) -- GPU (\d{1,3}).{0,80}? on node ([\w.:-]{1,80})")
_REMOTE = re.compile(r"(?i)remote[ _]?rank(?:id)?[\[:= ]{1,3}(\d{1,6})")
_OWN = re.compile(r"NCCL error in.{0,200}, unhandled (?:cuda|system) error|ncclUnhandledCudaError|Cuda failure")
_LEFT = re.compile(r"remote process exited|remote peer|closed by peer|ncclRemoteError")
TINY = 64
"""Elements of a collective that carries sizes or objects, never gradients."""


@dataclass(frozen=True, slots=True)
class Work:
    """The collective a rank waited in."""

    sequence: int
    operation: str
    elements: int | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """`suspect`: the rank the others wait for. `differs`: their collectives differ. `ahead`: named, not behind."""

    works: dict[int, Work]
    suspect: int | None = None
    node: str | None = None
    differs: bool = False
    is_tiny: bool = False
    ahead: tuple[int, ...] = ()
    lines: tuple[Entry, ...] = ()


def waiting_of(entries: Sequence[Entry], followers: Sequence[Claim], world: World) -> Waiting:
    """What the collectives that timed out tell."""
    works: dict[int, Work] = {}
    completed: dict[int, int] = {}
    lines: list[Entry] = []
    for entry in entries:
        if entry.rank is not None and (found := _WORK.search(entry.text)):
            works.setdefault(entry.rank, Work(int(found[1]), found[2], int(found[3]) if found[3] else None))
            lines.append(entry)
        if entry.rank is not None and (last := _LAST.search(entry.text)):
            completed.setdefault(entry.rank, int(last[1]))
    ras = _from_ras(entries)
    if ras is not None:
        return ras
    differs = _differ(works)
    suspect = _behind({rank: work.sequence for rank, work in works.items()}) if not differs else _odd(works)
    if suspect is None:
        suspect = _behind(completed)
    if suspect is None:
        suspect = _whose_own(entries)
    if suspect is None:
        suspect = _absent(works or {c.rank: None for c in followers if c.rank is not None}, world)
    if suspect is None:
        suspect = _pointed_at(entries)
    tiny = len(works) > 1 and all(work.elements is not None and 1 < work.elements <= TINY for work in works.values())
    return Waiting(works, suspect, differs=differs, is_tiny=tiny, lines=tuple(lines[:4]))


def _differ(works: dict[int, Work]) -> bool:
    """Whether two ranks run different operations, or different sizes, under the same number."""
    by_number: dict[int, set[tuple[str, int | None]]] = defaultdict(set)
    for work in works.values():
        by_number[work.sequence].add((work.operation, work.elements if "GATHER" not in work.operation else None))
    return any(len(each) > 1 for each in by_number.values())


def _odd(works: dict[int, Work]) -> int | None:
    """The one rank whose operation no other runs."""
    counts = Counter((work.operation, work.elements) for work in works.values())
    odd = [rank for rank, work in works.items() if counts[(work.operation, work.elements)] == 1]
    return odd[0] if len(odd) == 1 and len(works) > 2 else None


def _behind(numbers: dict[int, int]) -> int | None:
    """The one rank whose number is below that of all others."""
    if len(numbers) < 3:
        return None
    least = min(numbers.values())
    behind = [rank for rank, number in numbers.items() if number == least]
    return behind[0] if len(behind) == 1 else None


def _whose_own(entries: Sequence[Entry]) -> int | None:
    """The one rank whose own call failed, where the others say that a remote one left."""
    own = {entry.rank for entry in entries if entry.rank is not None and _OWN.search(entry.text)}
    remote = {entry.rank for entry in entries if entry.rank is not None and _LEFT.search(entry.text)}
    return next(iter(own)) if len(own) == 1 and remote - own else None


def _absent(reported: object, world: World) -> int | None:
    """The one rank of the job that did not complain."""
    complained = set(reported) if isinstance(reported, dict) else set()
    everyone = set(range(world.size)) if world.size and world.size <= 4096 else world.ranks
    missing = everyone - complained
    return next(iter(missing)) if len(missing) == 1 and len(complained) >= 2 else None


def _pointed_at(entries: Sequence[Entry]) -> int | None:
    """The end of the waiting chain: the one rank most others wait for, that waits for nobody itself."""
    edges: dict[int, int] = {}
    for entry in entries:
        if entry.rank is not None and (found := _REMOTE.search(entry.text)):
            edges[entry.rank] = int(found[1])
    targets = Counter(target for rank, target in edges.items() if target != rank and target not in edges)
    if not targets:
        return None
    (first, count), *others = targets.most_common()
    return first if count >= 2 and (not others or others[0][1] < count) else None


def _from_ras(entries: Sequence[Entry]) -> Waiting | None:
    """NCCL RAS lists the minority: ahead of the rest, it is not the one that is stuck."""
    counts = [(int(f[1]), int(f[2])) for e in entries if (f := _RAS.search(e.text))]
    listed = [(int(f[1]), f[3], e) for e in entries if (f := _RAS_RANK.match(e.text))]
    if not counts or not listed:
        return None
    minority = min(counts)
    ranks = tuple(rank for rank, _, _ in listed)
    lines = tuple(entry for _, _, entry in listed[:4])
    if len(counts) < 2:  # the count of the others was lost: whether these are ahead or behind is not told
        return Waiting({}, lines=lines)
    is_behind = minority[1] < max(number for _, number in counts)
    if not is_behind:
        return Waiting({}, ahead=ranks, lines=lines)
    alone = len(ranks) == 1
    nodes = {node for _, node, _ in listed}
    return Waiting({}, ranks[0] if alone else None, next(iter(nodes)) if len(nodes) == 1 else None, lines=lines)
