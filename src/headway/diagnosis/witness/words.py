"""The words of an attempt: its log book, error files and machines read like any logs, but for who wrote them.

That is known first-hand: a rank speaks in its own stream, and in its node's where a launcher gathers the node's ranks
in one. A line in a rank's own stream that claims to be another's is still that rank's.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

from headway.diagnosis.evidence import Evidence, LogTail, MachineWord
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.conclude import Case, case_of
from headway.diagnosis.finding.exits import Exit
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.read import Reading, Source, read
from headway.diagnosis.reading.world import World
from headway.diagnosis.signs.table import Table
from headway.domain.attempt import RankExit

WINDOW = 300
"""An exception with so many lines of its rank after it, stacks aside, did not end the rank."""
_DUMPED = re.compile(r'\s{0,8}(?:frame #\d|File "|#\d{1,3} |Thread 0x|Current thread 0x|at 0x)')
"""Lines of the stacks that a dying process dumps, thread after thread."""


@dataclass(frozen=True, slots=True)
class Words:
    """What was said, by file. `streams`: the rank whose stream a file is, None for error files and machines.

    `speakers`: who said what names nobody in a file; `summaries`: the ends a launcher told of in it.
    """

    reading: Reading
    case: Case
    streams: tuple[int | None, ...]
    speakers: tuple[int | None, ...]
    summaries: Mapping[int, list[Exit]]

    def speaker(self, entry: Entry) -> int | None:
        """The rank that said it; None: a machine."""
        return entry.rank if entry.rank is not None else self.speakers[entry.file]

    def lines(self) -> dict[int, list[Entry]]:
        """The lines in streams by the rank that said them."""
        found: dict[int, list[Entry]] = defaultdict(list)
        for entry in self.reading.entries:
            rank = self.speaker(entry)
            if rank is not None and self.streams[entry.file] is not None:
                found[rank].append(entry)
        return found

    def of(self, claims: Collection[Claim]) -> dict[int, list[Claim]]:
        """Claims by the rank that said them, without those too long before the end of their stream."""
        last: dict[tuple[int, int | None], int] = {}
        dumped: dict[tuple[int, int | None], list[int]] = defaultdict(list)
        for entry in self.reading.entries:
            key = entry.file, self.speaker(entry)
            last[key] = max(entry.number, last.get(key, 0))
            if _DUMPED.match(entry.text):
                dumped[key].append(entry.number)
        found: dict[int, list[Claim]] = defaultdict(list)
        for claim in claims:
            rank, number = self.speaker(claim.entry), claim.entry.number
            key = claim.entry.file, rank
            stacks = sum(at > number for at in dumped[key])
            if rank is not None and last[key] - number - stacks <= WINDOW:
                found[rank].append(claim)
        return found


def words_of(evidence: Evidence, table: Table) -> Words:
    """Read everything that was said."""
    tails = [evidence.logs[rank] for rank in sorted(evidence.logs)]
    carried = {tail.rank: _carried(evidence, tail.rank) for tail in tails}
    errors = [exit_ for exit_ in sorted(evidence.exits, key=lambda each: each.rank) if exit_.error_message]
    machines = _machines(evidence.machines)
    told = [_stream(evidence, tail, carried[tail.rank]) for tail in tails] + [_error_file(exit_) for exit_ in errors]
    reading = read([*told, *machines], _world(evidence, tails))
    nobody = [None] * len(machines)
    streams = (*(tail.rank for tail in tails), *[None for _ in errors], *nobody)
    _in_its_own_name(reading, streams, carried)
    case = case_of(reading, table)
    summaries = _summaries(reading, case.ends, streams)
    owners = (*(tail.rank for tail in tails), *(exit_.rank for exit_ in errors), *nobody)
    traced = {(entry.file, entry.rank) for entry in reading.entries if "Traceback" in entry.text}
    speakers = tuple(_speaker(traced, at, own, summaries.get(at, [])) for at, own in enumerate(owners))
    return Words(reading, case, streams, speakers, summaries)


def _in_its_own_name(reading: Reading, streams: Sequence[int | None], carried: Mapping[int, Collection[int]]) -> None:
    """A stream's lines are its own rank's, or of those it carries that they name, whatever else they say."""
    for entry in reading.entries:
        own = streams[entry.file]
        if own is not None and entry.rank not in ((None, own, *carried[own]) if carried[own] else (own,)):
            entry.rank = own


def _carried(evidence: Evidence, rank: int) -> tuple[int, ...]:
    """Others that speak in this rank's stream: ranks of its node that nobody saw end and have none."""
    node = evidence.nodes.get(rank)
    apart = {exit_.rank for exit_ in evidence.exits} | set(evidence.logs)
    return tuple(sorted(each for each, at in evidence.nodes.items() if at == node and each not in apart))


def _stream(evidence: Evidence, tail: LogTail, carried: Collection[int]) -> Source:
    rank = None if carried else tail.rank
    node = evidence.nodes.get(tail.rank)
    return Source(f"stream-{tail.rank}", [tail.data], rank, node, start=tail.offset)


def _error_file(exit_: RankExit) -> Source:
    """A rank's error file; what it says may stand in its stream too, which is read first."""
    text = exit_.error_callstack or exit_.error_message or ""
    return Source(f"error-of-{exit_.rank}", [text.encode(errors="replace")], exit_.rank, exit_.node)


def _machines(said: Collection[MachineWord]) -> list[Source]:
    """One file a node, its lines under the time that they were heard, in UTC."""
    lines: dict[str, list[str]] = defaultdict(list)
    for word in sorted(said, key=lambda each: each.at):
        lines[word.node].append(f"{word.at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} {word.text}")
    return [
        Source(f"kernel-{node}.log", ["\n".join(each).encode(errors="replace")], None, node, is_system=True)
        for node, each in sorted(lines.items())
    ]


def _world(evidence: Evidence, tails: Collection[LogTail]) -> World:
    """What is known of the job before a line is read."""
    world = World(size=len(evidence.nodes), node_of_rank=dict(evidence.nodes), ranks=set(evidence.nodes))
    world.is_distributed = len(evidence.nodes) > 1
    for file, tail in enumerate(tails):
        node = evidence.nodes.get(tail.rank)
        world.offsets[file] = {min((r for r, at in evidence.nodes.items() if at == node), default=tail.rank)}
    return world


def _summaries(reading: Reading, ends: Collection[Exit], streams: tuple[int | None, ...]) -> dict[int, list[Exit]]:
    """The last summary of a launcher in each stream, the failure it saw first before the others."""
    starts = {entry.file: entry.number for entry in reading.entries if entry.text.strip() == "Failures:"}
    found: dict[int, list[Exit]] = defaultdict(list)
    for end in ends:
        file = end.entry.file
        is_worker = end.in_summary and end.rank is not None and streams[file] is not None
        if is_worker and end.entry.number >= starts.get(file, 0):
            found[file].append(end)
    return {file: sorted(each, key=lambda end: not end.is_root) for file, each in found.items()}


def _speaker(traced: Collection[tuple[int, int | None]], file: int, own: int | None, summary: list[Exit]) -> int | None:
    """Who said what names nobody: the first failure, unless it has words of its own; else the stream's own rank."""
    if not summary:
        return own
    root = summary[0].rank
    return own if (file, root) in traced else root
