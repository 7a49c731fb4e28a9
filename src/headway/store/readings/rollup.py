"""What the cards of a node measured together, in steps, summed up as it is packed. Decides how long a step is.

A day of a wide job is millions of readings; a row of its page asks for a mean every few minutes. Steps double from half
a minute on, so that whole ones fill any longer bucket that begins with one: what they say is exact, not sampled.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headway.store.readings.chunk import Summary, summarize

BASE = 30_000
STEPS = 64
"""About so many in a chunk."""
# What is not a number makes the total NULL, and adding to NULL stays NULL.
_ADD = (
    "INSERT INTO rolled (place, width, at, count, total) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (place, width, at) DO UPDATE SET count = count + excluded.count, total = total + excluded.total"
)
_PLACE = (
    "INSERT INTO place (attempt, name, node) SELECT attempt, name, node FROM series WHERE id = ?"
    " AND rank < 0 AND device >= 0"
    " ON CONFLICT DO UPDATE SET node = excluded.node RETURNING id"
)


class Cut(NamedTuple):
    """Where equal buckets begin and how wide they are, in ms. Steps up to `step` fill them whole; 0: none does."""

    since: int
    width: int
    step: int


def cut(since: int, until: int, count: int) -> Cut:
    """At most so many buckets over two times, both included; long ones begin and end with a step."""
    width = -(-(until - since + 1) // count)
    if width < 2 * BASE:
        return Cut(since, width, 0)
    step = _step(width // 2)
    since -= since % step
    width = -(-(until - since + 1) // count)
    return Cut(since, -(-width // step) * step, step)


def step_of(since: int, until: int) -> int:
    """How long the steps are in which a card's chunk between two times was summed up."""
    return _step((until - since) // STEPS)


def roll_up(c: sqlite3.Connection, series: int, times: Sequence[int], values: Sequence[float]) -> None:
    """Add a chunk of a card's readings to the sums of its node; other series have none."""
    place = c.execute(_PLACE, (series,)).fetchone()
    if place is not None:
        width = step_of(times[0], times[-1])
        c.executemany(_ADD, [(*place, width, at, s.size, s.total) for at, s in _steps(width, times, values)])


def _steps(width: int, times: Sequence[int], values: Sequence[float]) -> Iterator[tuple[int, Summary]]:
    begin = 0
    for end in range(1, len(times) + 1):
        if end == len(times) or times[end] // width != times[begin] // width:
            yield times[begin] // width * width, summarize(values[begin:end])
            begin = end


def _step(length: int) -> int:
    """The longest step of at most a length, the shortest for what is shorter still."""
    return BASE << max(0, (length // BASE).bit_length() - 1)
