"""The rank that did not get where all others got: by a line that all printed but one, or by a coordinator."""

import re
from collections import defaultdict
from collections.abc import Sequence

from headway.diagnosis.reading.entry import Entry

_NO_WORDS = re.compile(r"[^A-Za-z\u4e00-\u9fff]+")
CLEAR_S = 5.0
FEWEST = 3
"""Ranks that must have come there, or there is no telling who is late."""


_GONE = re.compile(
    r"/task:(\d{1,6})\b.{0,60}?(?:heartbeat|unhealthy|died|disconnected)|"
    r"\b(?:[Nn]ode|[Rr]ank|[Ww]orker|[Pp]rocess)[ :=#]{1,3}(\d{1,6})\b.{0,40}?"
    r"(?:is timed out|heartbeat (?:timeout|lost)|lost heartbeat|is (?:dead|gone|lost)|has died|失联|心跳)"
)


def said_to_be_gone(entries: Sequence[Entry]) -> set[int]:
    """The ranks of which a coordinator says that they no longer answer."""
    found = (_GONE.search(entry.text) for entry in entries)
    return {int(each[1] or each[2]) for each in found if each}


def behind_at_milestone(entries: Sequence[Entry]) -> int | None:
    """The one rank whose furthest line all others went beyond, to one that they share; a line between may be lost.

    How far a line is: by where ranks come to it on average among their own.
    """
    said: dict[int, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.rank is not None:
            said[entry.rank].append(_NO_WORDS.sub(" ", entry.text).strip())
    places: dict[str, dict[int, int]] = defaultdict(dict)
    for rank, lines in said.items():
        for at, line in enumerate(lines):
            places[line].setdefault(rank, at)
    shared = {line: sum(at.values()) / len(at) for line, at in places.items() if len(at) > 1}
    far = {rank: max((shared.get(line, 0.0) for line in lines), default=0.0) for rank, lines in said.items()}
    behind = [rank for rank, reached in far.items() if reached < max(far.values())]
    if not behind:
        return _silent_first(entries)
    return behind[0] if len(behind) == 1 and len(said) > FEWEST else None


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
