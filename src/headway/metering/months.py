"""Months of a contract's time zone: where they begin, and which one a moment belongs to.

Edges are moments in UTC. Where the zone's clock jumps at an edge, the month begins when the clock first shows it.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from headway.domain.errors import PlatformError

_MONTH = re.compile(r"([1-9][0-9]{3})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A calendar month; written `2026-11`."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"

    def next(self) -> "Month":
        return Month(self.year + self.number // 12, self.number % 12 + 1)

    def previous(self) -> "Month":
        return Month(self.year - (self.number == 1), (self.number - 2) % 12 + 1)

    def start(self, zone: ZoneInfo) -> datetime:
        """The moment it begins, in UTC."""
        return datetime(self.year, self.number, 1, tzinfo=zone).astimezone(UTC)

    def end(self, zone: ZoneInfo) -> datetime:
        """The moment the next one begins, in UTC."""
        return self.next().start(zone)


def parse_month(text: str) -> Month:
    """Read `2026-11`; raises `invalid-field`."""
    found = _MONTH.fullmatch(text)
    if not found:
        raise PlatformError("invalid-field", field="month", value=text[:80], rule="YYYY-MM")
    return Month(int(found.group(1)), int(found.group(2)))


def parse_zone(name: str) -> ZoneInfo:
    """Read a zone of the time-zone database, such as `Asia/Shanghai`; raises `invalid-field`."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise PlatformError("invalid-field", field="timezone", value=name[:80], rule="Area/City") from None


def month_of(at: datetime, zone: ZoneInfo) -> Month:
    """The month a moment belongs to."""
    local = at.astimezone(zone)
    month = Month(local.year, local.month)
    if at < month.start(zone):
        return month.previous()
    return month.next() if at >= month.end(zone) else month
