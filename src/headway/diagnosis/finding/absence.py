"""The rank that did not get where all others got: told by a line that every rank printed but one."""

import re
from collections import defaultdict
from collections.abc import Sequence

from headway.diagnosis.reading.entry import Entry

_NO_WORDS = re.compile(r"[^A-Za-z\u4e00-\u9fff]+")
CLEAR_S = 5.0
FEWEST = 3
"""Ranks that must have come there, or there is no telling who is late."""


def behind_at_milestone(entries: Sequence[Entry]) -> int | None:
    """The one rank that lacks a line all others have."""
    had: dict[str, set[int]] = defaultdict(set)
    ranks: set[int] = set()
    for entry in entries:
        if entry.rank is not None:
            ranks.add(entry.rank)
            had[_NO_WORDS.sub(" ", entry.text).strip()].add(entry.rank)
    missing = {next(iter(ranks - each)) for each in had.values() if len(each) == len(ranks) - 1 >= FEWEST}
    return missing.pop() if len(missing) == 1 else _silent_first(entries)


def _silent_first(entries: Sequence[Entry]) -> int | None:
    """The one rank that fell silent well before all others, which stopped at about the same time."""
    last: dict[int, float] = {}
    for entry in entries:
        if entry.rank is not None and entry.at is not None:
            last[entry.rank] = max(last.get(entry.rank, entry.at), entry.at)
    if len(last) <= FEWEST:
        return None
    (first_at, first), (second_at, _), *_, (end, _) = sorted((at, rank) for rank, at in last.items())
    return first if second_at - first_at > max(CLEAR_S, 3 * (end - second_at)) else None
