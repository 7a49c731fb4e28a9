"""Turns closed intervals into ledger entries: whole seconds, cut at the month edges of the contract's time zone.

Posting is repeatable: the same interval always gives the same entries under the same keys. An open interval gives none.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from headway.metering.entries import Entry, Interval
from headway.metering.months import Month, month_of

SECOND = timedelta(seconds=1)


def post(intervals: Iterable[Interval], zone: ZoneInfo) -> list[Entry]:
    """The entries of every closed interval; one that lasted no whole second has one entry of nothing."""
    return [entry for interval in intervals if interval.end for entry in _entries(interval, interval.end, zone)]


def whole(at: datetime) -> datetime:
    """The whole second a moment lies in: intervals are counted from whole second to whole second."""
    return at.replace(microsecond=0)


def months_of(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[tuple[Month, datetime, datetime]]:
    """Cut a stretch of time at month edges: each month with the part that lies in it."""
    month = month_of(start, zone)
    while (edge := month.end(zone)) < end:
        yield month, start, edge
        month, start = month.next(), edge
    yield month, start, end


def _entries(interval: Interval, end: datetime, zone: ZoneInfo) -> Iterator[Entry]:
    for month, since, until in months_of(whole(interval.start), whole(end), zone):
        yield Entry(
            key=f"{interval.attempt}/{month}",
            project=interval.project,
            job=interval.job,
            attempt=interval.attempt,
            device_type=interval.device_type,
            basis=interval.basis,
            month=str(month),
            start=since,
            end=until,
            devices=interval.devices,
            device_seconds=interval.devices * ((until - since) // SECOND),
            grant=interval.grant,
        )
