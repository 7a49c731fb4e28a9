"""Who is who in a job: which process is which rank on which node, learned from the lines that say so.

Fills in rank and node of lines that name only a process, a card, a pod or a file. Never guesses where two answers fit.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.diagnosis.reading.alone import is_alone
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.names import FileName

_COMM = re.compile(r"\brank (\d{1,6}) nranks (\d{1,6})(?: cudaDev (\d{1,3}))?")
_IDS = re.compile(r"\(PID:(\d{1,8}), Device:(-?\d{1,3}), RankID:(-?\d{1,6})\)")
_DEVICE = re.compile(r"[Pp]rocess rank: (\d{1,6}),.{0,40}?device: \w{2,5}:(\d{1,3})")
_WORLD = re.compile(
    r"(?i)\b(?:world[ _-]?size|nranks|num_processes|total_ranks|number of (?:processes|"
    r"ranks))(?: is)?[\"']?[ :=]{1,3}(\d{1,6})\b|\bMEMBER: \d{1,6}/(\d{1,6})\b"
)
_LOCAL_RANK = re.compile(r"rank {0,6}: {0,2}(\d{1,6}) \(local_rank: (\d{1,4})\)")
_INITIALISED = re.compile(r"rank (\d{1,6}) is initialized local_rank = (\d{1,4})")
_ASSIGNED = re.compile(r"assigned [\w.-]{1,80}/([\w.-]{1,120}) to ([\w.-]{1,80})")
_INNER = re.compile(
    r"\[(?:PG [^\]]{0,80}?)?[Rr]ank[ :]{0,2}(\d{1,6})\]|RankID:(\d{1,6})\b|"
    r"\bglobal_rank[=: ]{1,2}(\d{1,6})\b|, rank: (\d{1,6}),|\(rank (\d{1,6})\)|^进程 ?(\d{1,3})(?!\d)"
)
_RANK_PID = re.compile(
    r"(?<!local[_ -])(?<!node[_ -])(?<!group[_ -])(?:[Rr]ank|RANK|进程)[ :=#_]{0,3}(?P<rank>\d{1,6})\b[^\d\n]{1,40}?"
    r"\b(?:pid|PID)[ :=]{0,3}(?P<pid>\d{2,8})\b|"
    r"\b(?:pid|PID)[ :=]{0,3}(?P<pid_>\d{2,8})\b[^\d\n]{1,40}?"
    r"(?<!local[_ -])(?<!node[_ -])(?<!group[_ -])[Rr]ank[ :=#]{0,3}(?P<rank_>\d{1,6})\b"
)
_ACTOR = re.compile(r"\(pid=\d{1,8}, ip=([\w.:-]{1,64})")
_PID_LIST = re.compile(r"(?i)\branks?[ ]?(?:->|=>|to|:|/)[ ]?pids?\b")
_PAIR = re.compile(r"(?<![\d.:])(\d{1,5})[:=]{1,2}>?(\d{2,8})\b")
_POD_RANK = re.compile(r"-(master|chief|launcher|leader|worker|w|m|node)-(\d{1,5})$")
_SINGLE = re.compile(
    r"(?i)distributed training: False|world[ _]size[ :=]{1,3}1\b|nranks 1\b|RankID:-1\b|"
    r"single[- ]gpu|num_processes[ =:]{1,3}1\b|not using distributed mode|"
    r"RANK and WORLD_SIZE not set|^\s{0,8}File \"[A-Z]:\\"
)
_SPOKEN = re.compile(r"Traceback \(most recent call last\)|\s{0,4}File \"|\[[EW](?: |\d{3,4} )")
_CARD = re.compile(r"^GPU (\d{1,2}): ")
_PRIME = re.compile(
    r"(?i)torch\.distributed|torchrun|deepspeed|accelerate|\bddp\b|"
    r"fsdp|nccl(?! ?[\d:=v|])|hccl|gloo|local_rank|nproc_per_node|mpirun|srun"
)


@dataclass(slots=True)
class World:
    """What is known of the job's ranks and machines."""

    size: int | None = None
    rank_of_pid: dict[int, int] = field(default_factory=dict)
    node_of_pid: dict[int, str] = field(default_factory=dict)
    node_of_rank: dict[int, str] = field(default_factory=dict)
    rank_of_device: dict[int, int] = field(default_factory=dict)
    rank_of_local: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    offsets: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    shared_pids: set[int] = field(default_factory=set)
    node_of_pod: dict[str, str] = field(default_factory=dict)
    rank_of_pod: dict[str, int] = field(default_factory=dict)
    nodes: Counter[str] = field(default_factory=Counter)
    ranks: set[int] = field(default_factory=set)
    cards: dict[int, int] = field(default_factory=dict)
    is_single: bool = False
    is_distributed: bool = False

    def rank_of_local_rank(self, local: int, file: int | None = None) -> int | None:
        """The rank of a local rank, if only one can be meant: a file of one node counts on from its first rank."""
        here = self.offsets.get(file, set()) if file is not None else set()
        if len(here) == 1:
            return local + next(iter(here))
        if here or any(each != {0} for each in self.offsets.values()):
            known = self.rank_of_local.get(local, set())
            return next(iter(known)) if len(known) == 1 and file is None else None
        known = self.rank_of_local.get(local, set())
        if len(known) == 1:
            return next(iter(known))
        return local if not known and len(self.nodes) <= 1 else None

    def rank_of_card(self, device: int) -> int | None:
        """The rank that uses a card, where a job is on one node and its ranks use the cards of their own number."""
        is_plain = bool(self.cards) and all(rank == card for card, rank in self.cards.items())
        if device in self.cards:
            return self.cards[device]
        return device if is_plain and len(self.nodes) <= 1 and device < (self.size or 0) else None


def learn(entries: Sequence[Entry], names: Sequence[FileName], known: World | None = None) -> World:
    """Learn the world, on top of what is `known`, and fill in what the entries' own lines leave out."""
    world = known or World()
    _numbers_are_ranks(entries)
    for entry in entries:
        _note(world, entry)
    _pods(world, entries, names)
    for entry in entries:
        fill(world, entry, names[entry.file])
    world.ranks |= {entry.rank for entry in entries if entry.rank is not None}
    world.nodes.update(name.node for name in names if name.node)
    cards = {found[1] for entry in entries if (found := _CARD.match(entry.text))}
    is_one = len(cards) == 1 or _is_lone(world, entries, names)
    world.is_single = world.is_single or (is_one and not world.is_distributed)
    return world


def _is_lone(world: World, entries: Sequence[Entry], names: Sequence[FileName]) -> bool:
    is_one = world.ranks <= {0} and len(world.nodes) <= 1 and (world.size or 1) == 1
    return is_one and is_alone(entries, names)


def _numbers_are_ranks(entries: Sequence[Entry]) -> None:
    """A number before the text is a rank where most lines of a file have one, several occur, or a traceback has it."""
    total: Counter[int] = Counter()
    numbered: dict[int, Counter[int]] = defaultdict(Counter)
    spoken: set[int] = set()
    for entry in entries:
        total[entry.file] += 1
        if entry.numbered is not None:
            numbered[entry.file][entry.numbered] += 1
            if _SPOKEN.match(entry.text):
                spoken.add(entry.file)
    trusted = {
        file
        for file, each in numbered.items()
        if (each.total() * 2 >= total[file] >= 6) or (len(each) > 1 and each.total() >= 4)
    }
    trusted |= spoken
    for entry in entries:
        if entry.file in trusted and entry.rank is None:
            entry.rank = entry.numbered


def _note(world: World, entry: Entry) -> None:
    """Note whoever a line names."""
    _note_cards(world, entry)
    text = entry.text
    if found := _LOCAL_RANK.search(text) or _INITIALISED.search(text):
        _is_local(world, entry.file, int(found[2]), int(found[1]))
    _note_processes(world, entry)
    if found := _WORLD.search(text):
        world.size = max(world.size or 0, int(found[1] or found[2]))
    if found := _ASSIGNED.search(text):
        world.node_of_pod[found[1]] = found[2]
    if "ip=" in text and (found := _ACTOR.search(text)):
        world.nodes[found[1]] += 1
    world.is_single = world.is_single or bool(_SINGLE.search(text))
    world.is_distributed = world.is_distributed or entry.rank is not None or bool(_PRIME.search(text))
    inner = _INNER.search(text)
    rank = entry.rank if entry.rank is not None else int(next(filter(None, inner.groups()))) if inner else None
    if rank is not None:
        _tie(world, rank, entry.pid, entry.node)
        if entry.local is not None and entry.role is None:
            _is_local(world, entry.file, entry.local, rank)
    if entry.node:
        world.nodes[entry.node] += 1
        if entry.pid is not None:
            world.node_of_pid.setdefault(entry.pid, entry.node)


def _note_cards(world: World, entry: Entry) -> None:
    """Note which rank uses which card."""
    text = entry.text
    if found := _COMM.search(text):
        _tie(world, int(found[1]), entry.pid, entry.node)
        world.size = max(world.size or 0, int(found[2]))
        if found[3]:
            world.cards[int(found[3])] = int(found[1])
    if (found := _IDS.search(text)) and int(found[3]) >= 0:
        _tie(world, int(found[3]), int(found[1]), entry.node)
        world.rank_of_device[int(found[2])] = int(found[3])
    if found := _DEVICE.search(text):
        world.rank_of_device[int(found[2])] = int(found[1])
        world.rank_of_local[int(found[2])].add(int(found[1]))
        _tie(world, int(found[1]), None, entry.node)


def _is_local(world: World, file: int, local: int, rank: int) -> None:
    world.rank_of_local[local].add(rank)
    world.offsets[file].add(rank - local)
    world.ranks.add(rank)


def _note_processes(world: World, entry: Entry) -> None:
    """Note which process a launcher started as which rank, told one a line or all in one."""
    text = entry.text
    if "pid" not in entry.lower:
        return
    if _PID_LIST.search(text):
        for pair in _PAIR.finditer(text):
            _tie(world, int(pair[1]), int(pair[2]), entry.node)
    elif found := _RANK_PID.search(text):
        _tie(world, int(found["rank"] or found["rank_"]), int(found["pid"] or found["pid_"]), entry.node)


def _tie(world: World, rank: int, pid: int | None, node: str | None) -> None:
    world.ranks.add(rank)
    if pid is not None and pid not in world.shared_pids and world.rank_of_pid.setdefault(pid, rank) != rank:
        world.shared_pids.add(pid)
        del world.rank_of_pid[pid]
    if node is not None:
        world.node_of_rank[rank] = node


def _pods(world: World, entries: Sequence[Entry], names: Sequence[FileName]) -> None:
    """By the habit of training operators: the master is rank 0, the workers come after it; else they begin at 0.

    Not where a pod says otherwise: then it holds several ranks, and which it is about is not known.
    """
    pods = {entry.pod for entry in entries if entry.pod} | set(world.node_of_pod)
    named = pods | {name.node for name in names if name.node and pods}
    parsed = {pod: found for pod in named if pod and (found := _POD_RANK.search(pod))}
    has_master = any(found[1] in ("master", "chief", "m") for found in parsed.values())
    ranks: dict[str, int] = {}
    for pod, found in parsed.items():
        if found[1] in ("launcher", "leader", "node"):
            continue
        is_master = found[1] in ("master", "chief", "m")
        ranks[pod] = int(found[2]) if is_master or not has_master else int(found[2]) + 1
    told = ((entry.pod or names[entry.file].node, entry.rank) for entry in entries if entry.rank is not None)
    if all(ranks.get(pod or "", rank) == rank for pod, rank in told):
        world.rank_of_pod.update(ranks)


def fill(world: World, entry: Entry, name: FileName) -> None:
    """Fill in the rank, node and role that an entry's own line leaves out."""
    if entry.rank is None:
        entry.rank = _rank_of(world, entry, name)
    if entry.node is None:
        entry.node = _node_of(world, entry, name)
    if entry.role is None:
        entry.role = name.role


def _rank_of(world: World, entry: Entry, name: FileName) -> int | None:
    inner = _INNER.search(entry.text)
    if inner:
        return int(next(filter(None, inner.groups())))
    if entry.pid is not None and entry.pid in world.rank_of_pid:
        return world.rank_of_pid[entry.pid]
    if entry.pod and entry.pod in world.rank_of_pod:
        return world.rank_of_pod[entry.pod]
    if name.rank is not None:
        return name.rank
    return world.rank_of_local_rank(entry.local, entry.file) if entry.local is not None else None


def _node_of(world: World, entry: Entry, name: FileName) -> str | None:
    if entry.pod and entry.pod in world.node_of_pod:
        return world.node_of_pod[entry.pod]
    if name.node is not None:
        return name.node
    if entry.pid is not None and entry.pid in world.node_of_pid:
        return world.node_of_pid[entry.pid]
    return world.node_of_rank.get(entry.rank) if entry.rank is not None else None
