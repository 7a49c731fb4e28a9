"""Checks a statement against the intervals it stands for, by another way than the ledger takes, and the ledger against
a batch system's own books. Corrects nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from headway.domain.ids import AttemptId
from headway.metering.entries import Entry, Interval, Statement
from headway.metering.months import parse_month, parse_zone
from headway.metering.statement import total_key


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of a statement that is not what the intervals say. Device-seconds."""

    what: str
    stated: int
    measured: int


@dataclass(frozen=True, slots=True)
class Apart:
    """An attempt for which the two sides count differently. Device-seconds; `engine` None: it has no record of it."""

    attempt: AttemptId
    ledger: int
    engine: int | None

    @property
    def difference(self) -> int:
        """What the ledger counts more."""
        return self.ledger - (self.engine or 0)


def compare(entries: Iterable[Entry], charged: Mapping[AttemptId, int], tolerance: timedelta) -> list[Apart]:
    """Attempts in the ledger that a batch system's books count otherwise, by more than `tolerance` a device.

    The ledger's word, which is the agents', stands: a controller that lost its last seconds, or gave an id out again,
    has books of what never was.
    """
    counted: Counter[AttemptId] = Counter()
    devices: dict[AttemptId, int] = {}
    for entry in entries:
        counted[entry.attempt] += entry.device_seconds
        devices[entry.attempt] = entry.devices
    found = [Apart(attempt, seconds, charged.get(attempt)) for attempt, seconds in counted.items()]
    return [one for one in found if abs(one.difference) > tolerance.total_seconds() * devices[one.attempt]]


def check(statement: Statement, intervals: Iterable[Interval]) -> list[Difference]:
    """Every figure that differs; none if the statement is right.

    `intervals`: all of the project, posted or not. Each is clipped to the month directly, and lines, totals and the sum
    are each compared with what comes out.
    """
    lines: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for interval in intervals:
        seconds = _device_seconds(interval, statement)
        lines[f"{interval.job} {total_key(interval.device_type, interval.basis)}"] += seconds
        totals[total_key(interval.device_type, interval.basis)] += seconds
    stated: Counter[str] = Counter()
    for line in statement.lines:
        stated[f"{line.job} {total_key(line.device_type, line.basis)}"] += line.device_seconds
    return [
        *_compare(stated, lines),
        *_compare(statement.totals, totals),
        *_compare({"device-seconds": statement.device_seconds}, {"device-seconds": totals.total()}),
    ]


def _device_seconds(interval: Interval, statement: Statement) -> int:
    if interval.project != statement.project:
        return 0
    month, zone = parse_month(statement.month), parse_zone(statement.timezone)
    since = max(interval.start.replace(microsecond=0), month.start(zone))
    until = min((interval.end or statement.as_of).replace(microsecond=0), month.end(zone))
    return interval.devices * max(0, (until - since) // timedelta(seconds=1))


def _compare(stated: dict[str, int], measured: dict[str, int]) -> list[Difference]:
    names = sorted(set(stated) | set(measured))
    both = [Difference(name, stated.get(name, 0), measured.get(name, 0)) for name in names]
    return [difference for difference in both if difference.stated != difference.measured]
