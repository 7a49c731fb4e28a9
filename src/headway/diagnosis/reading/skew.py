"""Brings the clocks of a job's nodes together, by events they share: the same step, the same collective.

A clock is moved by the median of its differences from the node that shares most; a difference within two seconds is
left alone, and so is a clock that shares fewer than two events: then its times remain what they are, weak evidence.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from headway.diagnosis.reading.entry import Entry

CLOSE_S = 2.0
FEWEST = 2
_EVENT = re.compile(r"(?i)\b(step|iter(?:ation)?|global_step)\b[\]:=\s|/#]{0,6}\[?\s{0,8}(\d{1,9})|(SeqNum)=(\d{1,12})")

Clock = str | int
"""Whose clock it is: a node, or a file where no node is known."""


def align(entries: Sequence[Entry]) -> dict[Clock, float]:
    """Move the times of entries; the seconds each clock was moved by, without those left alone."""
    seen: dict[Clock, dict[tuple[str, int], float]] = defaultdict(dict)
    for entry in entries:
        found = _EVENT.search(entry.text[:400]) if entry.at is not None else None
        if found and entry.at is not None:
            event = ((found[1] or found[3]).lower(), int(found[2] or found[4]))
            seen[_clock(entry)].setdefault(event, entry.at)
    moves = _moves(seen)
    for entry in entries:
        if entry.at is not None:
            entry.at += moves.get(_clock(entry), 0.0)
    return moves


def _clock(entry: Entry) -> Clock:
    return entry.node if entry.node is not None else entry.file


def _moves(seen: dict[Clock, dict[tuple[str, int], float]]) -> dict[Clock, float]:
    if len(seen) < 2:
        return {}
    reference = max(sorted(seen, key=str), key=lambda clock: len(seen[clock]))
    moves: dict[Clock, float] = {}
    for clock, events in seen.items():
        shared = events.keys() & seen[reference].keys()
        if clock != reference and len(shared) >= FEWEST:
            move = median(seen[reference][event] - events[event] for event in shared)
            if abs(move) > CLOSE_S:
                moves[clock] = move
    return moves
