"""When a line of the kernel was written, by any of the clocks such lines begin with. Epoch seconds, or None."""

from __future__ import annotations

import datetime
import re
import time

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?\s?(Z|[+-]\d\d:?\d\d)?")
_SINCE_BOOT = re.compile(r"\[\s*(\d+\.\d+)\]")
_KMSG = re.compile(r"\d+,\d+,(\d+),")
_CTIME = re.compile(r"\[\w{3} (\w{3})\s+(\d+) (\d\d):(\d\d):(\d\d) (\d{4})\]")
_SYSLOG = re.compile(r"(\w{3})\s+(\d+) (\d\d):(\d\d):(\d\d) ")
_EPOCH = re.compile(r"(\d{10}\.\d+) ")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def boot_time() -> float:
    """When this machine started, in epoch seconds."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def moment_of(line: str, now: float) -> float | None:
    """The time a line begins with; a clock without a year is taken as the last such time before `now`."""
    head = line[:80]
    found = _KMSG.match(head)
    if found is not None:
        return boot_time() + int(found.group(1)) / 1e6
    found = _SINCE_BOOT.search(head)
    if found is not None:
        return boot_time() + float(found.group(1))
    found = _EPOCH.match(head)
    if found is not None:
        return float(found.group(1))
    found = _ISO.search(head)
    if found is not None:
        return _iso(found)
    return _named_month(head, now)


def _iso(found: re.Match[str]) -> float | None:
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction = int((found.group(7) or "0").ljust(6, "0"))
    zone = found.group(8)
    try:
        at = datetime.datetime(year, month, day, hour, minute, second, fraction)  # noqa: DTZ001 - the zone follows
        if zone is None:
            return at.timestamp()
        away = 0 if zone == "Z" else int(zone[1:3]) * 60 + int(zone[-2:])
        offset = datetime.timezone(datetime.timedelta(minutes=-away if zone.startswith("-") else away))
        return at.replace(tzinfo=offset).timestamp()
    except (ValueError, OverflowError):
        return None


def _named_month(head: str, now: float) -> float | None:
    found = _CTIME.search(head)
    year = int(found.group(6)) if found else None
    found = found or _SYSLOG.match(head)
    if found is None or found.group(1) not in _MONTHS:
        return None
    month, (day, hour, minute, second) = _MONTHS.index(found.group(1)) + 1, (int(part) for part in found.groups()[1:5])
    try:
        this_year = year or time.localtime(now).tm_year
        at = time.mktime((this_year, month, day, hour, minute, second, 0, 0, -1))
        if year is None and at > now + 86400:
            at = time.mktime((this_year - 1, month, day, hour, minute, second, 0, 0, -1))
    except (ValueError, OverflowError):
        return None
    return at
