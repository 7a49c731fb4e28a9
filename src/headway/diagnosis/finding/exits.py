"""What launchers and schedulers say of ranks that ended: who, how, and which of them they saw first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from headway.diagnosis.reading.clocks import read_clock
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.world import World

_FIELD = re.compile(r"\s{0,4}(time|host|rank|exitcode|error_file|traceback) {0,8}: {1,2}(\S.{0,300})")
_FAILED = re.compile(r"failed \(exitcode: (-?\d{1,4})\) local_rank: (\d{1,4}) \(pid: (\d{1,8})\)")
_LAUNCHED = re.compile(
    r"(?:exits with return code = |returned non-zero exit status |died with <Signals\.(?=SIG))(-?\d{1,4}|SIG[A-Z]{2,8})"
)
_LOCAL_ARGUMENT = re.compile(r"--local[_-]rank=(\d{1,4})\b")
_TASKS = re.compile(r"(?:srun: )?error: ([\w.-]{1,80}): tasks? (\d{1,6})(?:-(\d{1,6}))?[\d,-]{0,40}: (.{1,80})")
_MPIRUN = re.compile(r"process rank (\d{1,6}) with PID (\d{1,8}) on node ([\w.-]{1,80}) exited on signal (\d{1,3})")
_SPAWN = re.compile(
    r"[Pp]rocess (\d{1,4}) (?:terminated|exited|died) (?:with|on|due to) (?:signal (SIG\w{2,8}|"
    r"\d{1,3})|exit ?code (-?\d{1,4}))"
)
_CHILD = re.compile(
    r"(?i)\b(?:child|subprocess|(?:worker |launched |sub)?process(?: pid)?|pid|进程号?)[ :=#(\[]{0,3}(\d{2,8})[)\]]?\b"
    r".{0,60}?(?:exited|terminated|died|killed|ended|finished|退出|终止).{0,30}?"
    r"(?:(?:code|status|码)[ :=]{0,3}(-?\d{1,4})|(?:signal|信号)[ :=]{0,3}(SIG[A-Z]{2,8}|\d{1,3}))"
)
_REPORTED = re.compile(r'\s{0,12}"exit_?code": (-?\d{1,4}),?$')
_FIRST = re.compile(r"Process name: \[\[\d{1,8},\d{1,8}\],(\d{1,7})\]|Container rank (\d{1,6}) status failed")
_BAD_TERMINATION = re.compile(r"=\s{1,4}RANK (\d{1,7}) PID (\d{1,8}) RUNNING AT ([\w.-]{1,80})")
_RANK_EXIT = re.compile(
    r"(?i)(?:rank|worker|进程|Rank)[ _#:]{0,3}(\d{1,6})\b.{0,60}?(?:exited|"
    r"退出|exit(?:ed)?|returned|terminated|终止).{0,30}?(?:code|status|"
    r"signal|码|信号)[ :=]{0,3}(-?\d{1,4})"
)
_NUMBER = re.compile(r"-?\d{1,9}")
_BY_SIGNAL = re.compile(r"Signal (\d{1,3}) \(SIG[A-Z]{2,8}\) received by PID (\d{1,8})")
_PID = re.compile(r"\(pid: (\d{1,8})\)")
_SIGNALS = {"SIGKILL": 9, "SIGSEGV": 11, "SIGABRT": 6, "SIGBUS": 7, "SIGTERM": 15, "SIGILL": 4, "SIGFPE": 8}
TERMINATED = 15


@dataclass(frozen=True, slots=True)
class Exit:
    """One rank's end as a launcher told it. `signal`: 0 if it left by itself. `is_root`: the launcher saw it first."""

    entry: Entry
    rank: int | None
    code: int
    node: str | None = None
    pid: int | None = None
    is_root: bool = False
    in_summary: bool = False
    at: float | None = None
    name: str = ""

    @property
    def signal(self) -> int:
        """The signal that ended it, from a negative code or one above 128."""
        return -self.code if self.code < 0 else self.code - 128 if 129 <= self.code <= 159 else 0


def find(entries: Sequence[Entry], world: World) -> list[Exit]:
    """Every end that is told of, in order; teaches `world` the processes that are named."""
    _learn_processes(entries, world)
    found = _summaries(entries, world)
    in_summary = {exit_.pid for exit_ in found if exit_.pid is not None}
    for exit_ in found:
        if exit_.rank is not None and exit_.pid is not None:
            world.rank_of_pid[exit_.pid] = exit_.rank
        if exit_.rank is not None and exit_.node:
            world.node_of_rank.setdefault(exit_.rank, exit_.node)
    for entry in entries:
        single = _single(entry, world)
        if single and (single.pid is None or single.pid not in in_summary):
            found.append(single)
            if single.pid is not None and single.rank is not None:
                world.rank_of_pid.setdefault(single.pid, single.rank)
    return sorted(found, key=lambda exit_: (exit_.entry.file, exit_.entry.number))


def _learn_processes(entries: Sequence[Entry], world: World) -> None:
    """Teach `world` the processes that a launcher names with their local rank, on a node whose first rank is known."""
    for entry in entries:
        if found := _FAILED.search(entry.text):
            rank = world.rank_of_local_rank(int(found[2]), entry.file)
            if rank is not None:
                world.rank_of_pid.setdefault(int(found[3]), rank)


def _summaries(entries: Sequence[Entry], world: World) -> list[Exit]:
    """torchrun's blocks of fields, any field of which may be lost; the first observed failure has its own heading."""
    found: list[Exit] = []
    block = _Block()
    is_root = False
    for entry in entries:
        match = _FIELD.match(entry.text)
        if block.fields and (match is None or match[1] in block.fields or entry.file != block.file):
            found += block.closed(is_root, world)
            block = _Block()
        if "Root Cause (first observed failure)" in entry.text:
            is_root = True
        elif "Failures:" in entry.text:
            is_root = False
        if match:
            block.fields[match[1]], block.file = (match[2].strip(), entry), entry.file
    found += block.closed(is_root, world)
    if found and not any(exit_.is_root for exit_ in found):
        found[-1] = replace(found[-1], is_root=True)
    return [
        replace(exit_, node=exit_.node or _host_of(exit_.entry.file, found), rank=_rank_of(exit_, found))
        for exit_ in found
    ]


def _rank_of(end: Exit, ends: Sequence[Exit]) -> int | None:
    """A launcher starts its ranks one after the other: where a rank was lost, its process tells it among the others."""
    if end.rank is not None or end.pid is None:
        return end.rank
    others = [one for one in ends if one.entry.file == end.entry.file and one.rank is not None and one.pid is not None]
    apart = {one.pid - one.rank for one in others if one.pid is not None and one.rank is not None}
    rank = end.pid - next(iter(apart)) if len(apart) == 1 and len(others) > 1 else -1
    return rank if rank >= 0 and rank not in {one.rank for one in others} else None


def _host_of(file: int, ends: Sequence[Exit]) -> str | None:
    """A launcher tells of its own machine only: where one block lost its host, the others have it."""
    hosts = {end.node for end in ends if end.entry.file == file and end.node}
    return next(iter(hosts)) if len(hosts) == 1 else None


@dataclass(slots=True)
class _Block:
    """The fields of one failed rank so far."""

    fields: dict[str, tuple[str, Entry]] = field(default_factory=dict)
    file: int = -1

    def closed(self, is_root: bool, world: World) -> list[Exit]:
        """What the block tells; nothing if neither its rank nor its process is left."""
        said = {name: text for name, (text, _) in self.fields.items()}
        text = f"{said.get('exitcode', '')} {said.get('traceback', '')}"
        code, pid, signal = _NUMBER.match(text), _PID.search(text), _BY_SIGNAL.search(text)
        named = _NUMBER.match(said.get("rank", ""))
        process = int(pid[1]) if pid else int(signal[2]) if signal else None
        rank = int(named[0]) if named else world.rank_of_pid.get(process) if process is not None else None
        if named is None and process is None:
            return []
        clock = read_clock(f"{said.get('time', '')} ")
        entry = next(self.fields[name][1] for name in ("exitcode", "rank", "traceback") if name in self.fields)
        ended = int(code[0]) if code else -int(signal[1]) if signal else 1
        at = clock[0] if clock else None
        return [Exit(entry, rank, ended, said.get("host") or None, process, is_root, in_summary=True, at=at)]


def _single(entry: Entry, world: World) -> Exit | None:
    text = entry.text
    if found := _FAILED.search(text):
        rank = world.rank_of_local_rank(int(found[2]), entry.file)
        return Exit(entry, rank, int(found[1]), entry.node, int(found[3]), is_root=True)
    if (found := _LAUNCHED.search(text)) and (local := _LOCAL_ARGUMENT.search(text)):
        code = -_signal(found[1]) if found[1].startswith("SIG") else int(found[1])
        return Exit(entry, world.rank_of_local_rank(int(local[1])), code, entry.node, is_root=True)
    if found := _MPIRUN.search(text):
        return Exit(entry, int(found[1]), -int(found[4]), found[3], int(found[2]), is_root=True)
    if found := _TASKS.search(text):
        return Exit(entry, int(found[2]) if not found[3] else None, _code_of(found[4]), found[1], name=found[4])
    if found := _BAD_TERMINATION.search(text):
        return Exit(entry, int(found[1]), 1, found[3], int(found[2]), is_root=True)
    if found := _FIRST.search(text):
        return Exit(entry, int(found[1] or found[2]), 1, entry.node, is_root=True)
    return _ended(entry, world)


def _ended(entry: Entry, world: World) -> Exit | None:
    """One process's end, told without saying that it was the first."""
    text = entry.text
    if (found := _REPORTED.match(text)) and entry.rank is not None:
        return Exit(entry, entry.rank, int(found[1]), entry.node)
    if found := _CHILD.search(text):
        code = -_signal(found[3]) if found[3] else int(found[2])
        return Exit(entry, world.rank_of_pid.get(int(found[1]), entry.rank), code, entry.node, int(found[1]))
    if found := _SPAWN.search(text):
        code = -_signal(found[2]) if found[2] else int(found[3])
        return Exit(entry, world.rank_of_local_rank(int(found[1])), code, entry.node)
    if found := _RANK_EXIT.search(text):
        return Exit(entry, int(found[1]), int(found[2]), entry.node)
    return None


def _signal(name: str) -> int:
    """The number of a signal, given by name or number; 0 if it is not known."""
    return int(name) if name.isdigit() else _SIGNALS.get(name.upper(), 0)


def _code_of(words: str) -> int:
    named = {
        "Killed": -9,
        "Segmentation fault": -11,
        "Aborted": -6,
        "Bus error": -7,
        "Terminated": -15,
        "Out Of Memory": -9,
    }
    code = next((value for word, value in named.items() if word in words), None)
    number = _NUMBER.search(words)
    return code if code is not None else int(number[0]) if number else 1


def ranks_in_ranges(entries: Sequence[Entry]) -> dict[int, list[int]]:
    """The ranks a scheduler lists as `tasks 2-3` that ended by themselves, by the number of the entry's place."""
    found: dict[int, list[int]] = {}
    for at, entry in enumerate(entries):
        if (match := _TASKS.search(entry.text)) and match[3] and "Terminated" not in match[4]:
            found[at] = list(range(int(match[2]), min(int(match[3]), int(match[2]) + 4096) + 1))
    return found
