"""The same logs told otherwise: their truth is unchanged, so a finding should be too. Seeded."""

import random
import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from headway.diagnosis.reading.names import read_name

Logs = Mapping[str, bytes]
NORMAL_LINES = 100_000
LOST = 0.1

_RANK = re.compile(rb"^\[rank(\d{1,6})\]:? ?", re.MULTILINE)
_STAMP = re.compile(rb"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}")
_LEADING = re.compile(
    rb"^(?:\[?\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?Z?\]?(?: -)?|"
    rb"\[?\d{2}/\d{2}(?:/\d{4})? \d{2}:\d{2}:\d{2}(?: -)?) ?",
    re.MULTILINE,
)


def prefixes_swapped(logs: Logs, seed: int) -> Logs:
    """`[rankN]:` as another launcher prints it."""
    forms = (
        rb"[1,\1]<stderr>: ",
        rb"[\1]<stderr>: ",
        rb"Rank \1: ",
        rb"[rank: \1] ",
        rb"rank=\1 ",
        rb"[RANK \1] ",
        rb"\1: ",
        rb"[\1]: ",
    )
    form = random.Random(seed).choice(forms)
    return {path: _RANK.sub(form, data) for path, data in logs.items()}


def timestamps_dropped(logs: Logs, seed: int) -> Logs:
    """No times at the heads of lines."""
    del seed
    return {path: _LEADING.sub(b"", data) for path, data in logs.items()}


def clocks_shifted(logs: Logs, seed: int) -> Logs:
    """Every file's clock 30 s early or late."""
    draw = random.Random(seed)

    def shifted(data: bytes, by: timedelta) -> bytes:
        def one(found: re.Match[bytes]) -> bytes:
            try:
                moment = datetime.fromisoformat(found[0].decode()) + by
            except ValueError:
                return found[0]
            return moment.isoformat(sep="T" if b"T" in found[0] else " ").encode()

        return _STAMP.sub(one, data)

    return {path: shifted(data, timedelta(seconds=draw.choice((-30, 30)))) for path, data in logs.items()}


def lines_lost(logs: Logs, seed: int) -> Logs:
    """One line in ten never arrived."""
    draw = random.Random(seed)
    return {
        path: b"".join(line for line in data.splitlines(keepends=True) if draw.random() >= LOST)
        for path, data in logs.items()
    }


def one_file_missing(logs: Logs, seed: int, spared: Collection[str] = ()) -> Logs:
    """One rank's or one node's file was not handed over; not one of `spared`: the first fault's own."""
    of_ranks = [path for path in logs if read_name(path).rank is not None or read_name(path).node is not None]
    if len(logs) < 2 or not set(of_ranks) - set(spared):
        return logs
    lost = random.Random(seed).choice(sorted(set(of_ranks) - set(spared)))
    return {path: data for path, data in logs.items() if path != lost}


def own_files(truth: Mapping[str, Any], logs: Logs) -> frozenset[str]:
    """The files of the rank or node that failed first, by their names."""
    rank, node = truth["first_failing_rank"], truth["first_failing_node"]
    named = {path: read_name(path) for path in logs}
    own = {
        path for path, name in named.items() if (rank is not None and name.rank == rank) or (node and name.node == node)
    }
    system = {path for path, name in named.items() if name.is_system}
    return frozenset(own | system)


def normal_lines_added(logs: Logs, seed: int) -> Logs:
    """A hundred thousand lines that say nothing, before what was there."""
    draw = random.Random(seed)
    line = b"INFO monitor: cpu %d%%, host memory %d MiB used, cache hit rate 0.%d, queue depth %d\n"
    many = b"".join(
        line % (draw.randrange(100), draw.randrange(1 << 19), draw.randrange(1000), draw.randrange(64))
        for _ in range(NORMAL_LINES)
    )
    first = min(logs)
    return {path: many + data if path == first else data for path, data in logs.items()}


def bad_bytes(logs: Logs, seed: int) -> Logs:
    """Bytes that are no text, NULs and DOS line ends."""
    draw = random.Random(seed)

    def spoilt(line: bytes) -> bytes:
        junk = draw.choice((b"\xff\xfe", b"\x00\x00\x00", b"\x80")) if draw.random() < LOST else b""
        return line.rstrip(b"\n") + junk + b"\r\n"

    return {path: b"".join(map(spoilt, data.splitlines(keepends=True))) for path, data in logs.items()}


LOST_LINES = "10 % of lines lost"
MISSING = "one rank's file missing"
PERTURBATIONS: dict[str, Callable[[Logs, int], Logs]] = {
    "prefixes swapped": prefixes_swapped,
    "timestamps dropped": timestamps_dropped,
    "clocks shifted ±30 s": clocks_shifted,
    LOST_LINES: lines_lost,
    MISSING: one_file_missing,
    "10⁵ normal lines added": normal_lines_added,
    "bad bytes": bad_bytes,
}
