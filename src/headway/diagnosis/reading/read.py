"""Reads the files of a case into entries in linear time: sieve, decode, unwrap, peel. Opens no file itself."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from headway.diagnosis.reading.clocks import has_year, in_year_of, read_clock
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.names import FileName, read_name
from headway.diagnosis.reading.prefixes import peel
from headway.diagnosis.reading.reports import spread
from headway.diagnosis.reading.sieve import RawLine, Sieve
from headway.diagnosis.reading.skew import align
from headway.diagnosis.reading.text import Unwrapped, clean, decode, unwrap
from headway.diagnosis.reading.world import World, fill, learn

LONGEST_TEXT = 4000
MOST_ENTRIES = 40_000
"""Kept lines of a whole case; shared among its files."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a case: its path within the folder, its bytes in chunks of any size, and whose it is, if known.

    `is_system`: a machine's own log (kernel, scheduler, counters) rather than a rank's. `start`: where in the whole
    stream the given bytes begin; offsets count from the stream's beginning.
    """

    path: str
    chunks: Iterable[bytes]
    rank: int | None = None
    node: str | None = None
    is_system: bool = False
    start: int = 0

    @property
    def name(self) -> FileName:
        """Whose file it is: what is known, else what its path says."""
        told = read_name(self.path)
        if self.rank is None and self.node is None and not self.is_system:
            return told
        return FileName(self.rank, self.node, told.role, self.is_system)


@dataclass(frozen=True, slots=True)
class Reading:
    """Every kept line of every file, in the order of the files and of their lines."""

    paths: tuple[str, ...]
    names: tuple[FileName, ...]
    entries: list[Entry]
    world: World

    def refill(self) -> None:
        """Fill in ranks and nodes again, after more was learned of the world."""
        for entry in self.entries:
            fill(self.world, entry, self.names[entry.file])


def read(sources: Sequence[Source], known: World | None = None) -> Reading:
    """Read the files in order; memory does not grow with their size. `known`: what is known of the job beforehand."""
    names = tuple(source.name for source in sources)
    most = max(1000, MOST_ENTRIES // max(len(sources), 1))
    entries: list[Entry] = []
    for at, source in enumerate(sources):
        for line in Sieve(most).read(source.chunks):
            entries += _entries(at, replace(line, offset=source.start + line.offset) if source.start else line)
    _same_years(entries)
    spread(entries)
    _inherit(entries)
    world = learn(entries, names, known)
    align(entries)
    return Reading(tuple(source.path for source in sources), names, entries, world)


def _entries(file: int, line: RawLine) -> list[Entry]:
    raw = decode(line.data)
    return [entry for each in unwrap(clean(raw)) if (entry := _entry(file, line, raw, each)).text.strip()]


def _entry(file: int, line: RawLine, raw: str, each: Unwrapped) -> Entry:
    entry = Entry(file, line.number, line.offset, raw[:LONGEST_TEXT], each.text[:LONGEST_TEXT].rstrip())
    entry.rank, entry.node, entry.pod, entry.role = each.rank, each.node, each.pod, each.role
    clock = read_clock(f"{each.time} ") if each.time else None
    entry.at = clock[0] if clock else None
    peel(entry)
    inner = next(unwrap(entry.text), None) if entry.text.startswith("{") and entry.text != each.text else None
    if inner is not None and inner.text != entry.text:
        entry.text = inner.text
        entry.lower = inner.text.lower()
        entry.pod, entry.node = entry.pod or inner.pod, entry.node or inner.node
        peel(entry)
    return entry


def _same_years(entries: Sequence[Entry]) -> None:
    """Times printed without a year, or without a date, go beside those printed in full."""
    near = next((entry.at for entry in entries if entry.at is not None and has_year(entry.at)), None)
    if near is None:
        return
    for entry in entries:
        if entry.at is not None:
            entry.at = in_year_of(entry.at, near)


_EXCEPTION = re.compile(r"[A-Za-z_][\w.]{0,160}(?:\(\w{1,60}\))?(?::\s|:$|$)")
_HEAD = "Traceback (most recent call last)"
LONGEST_TRACEBACK = 200


def _inherit(entries: Sequence[Entry]) -> None:
    """The lines of a traceback that name nobody are of whoever its head names, up to its exception."""
    head: Entry | None = None
    left = 0
    for entry in entries:
        named = entry.rank is not None or entry.pid is not None or entry.local is not None or entry.at is not None
        if _HEAD in entry.text:
            head = entry if named else None
            left = LONGEST_TRACEBACK
        elif named or (head is not None and entry.file != head.file) or not left:
            head = None
        elif head is not None:
            entry.rank, entry.pid, entry.local = head.rank, head.pid, head.local
            entry.node, entry.role = entry.node or head.node, entry.role or head.role
            left = 0 if _EXCEPTION.match(entry.text) else left - 1
