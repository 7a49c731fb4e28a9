"""Whether a card that is held does anything: working, idle since a moment, or unknown where nobody measures it.

Idle is no fault and no stall: it says only that the card has done nothing for a while. It accuses nobody and ends
nothing; where no reading is fresh it never says idle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

PATIENCE = timedelta(minutes=10)
"""Loading, compiling and saving leave a card quiet for minutes: so long it counts as working."""
FRESH = timedelta(minutes=2)
QUIET = 1.0
"""Per cent of the card, or of one core for a slot of the machine itself, below which it does nothing."""


class Doing(StrEnum):
    """What a held card does."""

    WORKING = "working"
    IDLE = "idle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Activity:
    """What a card does; `since`: from when on it has done nothing, or, unknown, when it was last measured."""

    doing: Doing
    since: datetime | None = None


def judge(readings: Sequence[tuple[datetime, float]], newest: datetime | None, now: datetime) -> Activity:
    """By readings in order of time: since when, and the most it was busy until the next. `newest`: the last one's time.

    A card that was never seen busy is idle since its first reading, not since it was taken: nobody knows before.
    """
    if not readings or newest is None or now - newest > FRESH:
        return Activity(Doing.UNKNOWN, newest)
    quiet_from = readings[0][0]
    for (_, busy), (following, _) in pairwise(readings):
        if busy >= QUIET:
            quiet_from = following
    if readings[-1][1] >= QUIET or now - quiet_from < PATIENCE:
        return Activity(Doing.WORKING)
    return Activity(Doing.IDLE, quiet_from)
