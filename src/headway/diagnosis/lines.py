"""Turns the last bytes of a stream into lines with their rank and byte offset. Decides nothing about what they mean.

Linear in the bytes given: every line is cut to a fixed length before any pattern looks at it, and only the last lines
of each rank are decoded.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.diagnosis.evidence import LogTail

WINDOW = 300
"""How many of a rank's last lines are looked at: what ended it stands near its end."""

LONGEST = 2000
"""Bytes of a line that are looked at."""

NOWHERE = -1
"""The offset of a line that stands in no stream."""

_MAY_NAME_A_RANK = (b"[rank", b"[default", b"\x1b")
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[@-Z\\^_])")
_PREFIX = re.compile(rb"\[(?:rank(\d{1,7})|default(\d{1,7}))\]: ?")


class Line(NamedTuple):
    """One line without its colours and rank prefix; `offset` is its first byte in the stream."""

    offset: int
    text: str


def read(tail: LogTail, local_ranks: Sequence[int] = ()) -> dict[int, list[Line]]:
    """Return the last lines of each rank that wrote to this stream.

    `local_ranks` are the global ranks of the stream's node in order, so that torchrun's `[default1]:` finds its rank.
    Carriage returns end a line as well, so that a progress bar's states are lines of their own.
    """
    kept: dict[int, list[Line]] = {}
    end = len(tail.data)
    for piece in reversed(tail.data.replace(b"\r", b"\n").split(b"\n")):
        start, end = end - len(piece), end - len(piece) - 1
        if not piece:
            continue
        rank, raw = tail.rank, piece[:LONGEST]
        if raw.startswith(_MAY_NAME_A_RANK):
            rank, raw = _attribute(_ANSI.sub(b"", raw), tail.rank, local_ranks)
        found = kept.setdefault(rank, [])
        if len(found) < WINDOW:
            found.append(Line(tail.offset + start, _decode(raw)))
    return {rank: found[::-1] for rank, found in kept.items()}


def _attribute(raw: bytes, rank: int, local_ranks: Sequence[int]) -> tuple[int, bytes]:
    while found := _PREFIX.match(raw):
        if found.group(1):
            rank = int(found.group(1))
        else:
            local = int(found.group(2))
            rank = local_ranks[local] if local < len(local_ranks) else rank + local
        raw = raw[found.end() :]
    return rank, raw


def _decode(raw: bytes) -> str:
    if b"\x1b" in raw:
        raw = _ANSI.sub(b"", raw)
    return raw.replace(b"\0", b"").decode("utf-8", errors="replace").rstrip()
