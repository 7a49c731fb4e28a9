"""Reads the time at the head of a line, in the many ways programs print it. Never guesses a date that is not there.

Times become seconds on one scale without zones: enough to order lines of one job whose clocks roughly agree.
"""

import re
from calendar import timegm
from datetime import UTC, datetime

_MONTHS = {
    name: at
    for at, name in enumerate(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1)
}
_CLOCK = r"(?P<h>\d{1,2}):(?P<mi>\d{2}):(?P<s>\d{2})(?:[.,:](?P<f>\d{1,9}))?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|CST|[+-]\d{2}:?\d{2})(?![A-Za-z0-9]))?"
_CLOSE = r"(?:\s*[\])}>|]+:?)?[ \t]*(?:[-|][ \t]+)?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"[\[({{<]?(?P<y>\d{{4}})[-/.](?P<mo>\d{{1,2}})[-/.](?P<d>\d{{1,2}})[ T_-]+{_CLOCK}(?:\.\d{{1,3}})?"
        rf"{_ZONE}{_CLOSE}",
        rf"[\[(]?(?P<y>\d{{4}})年(?P<mo>\d{{1,2}})月(?P<d>\d{{1,2}})日 ?"
        rf"(?P<h>\d{{1,2}})[:时](?P<mi>\d{{1,2}})[:分](?P<s>\d{{1,2}})秒?{_CLOSE}",
        rf"\[?(?P<mo>\d{{1,2}})/(?P<d>\d{{1,2}})/(?P<y>\d{{4}}) +{_CLOCK}{_CLOSE}",
        rf"\[?(?P<d>\d{{1,2}})/(?P<mon>[A-Z][a-z]{{2}})/(?P<y>\d{{4}})[: ]{_CLOCK}{_ZONE}{_CLOSE}",
        rf"\[?[EWIFD](?P<mo>\d{{2}})(?P<d>\d{{2}}) +{_CLOCK}(?: +\d{{1,9}})?(?: +[\w./-]{{1,200}}:\d{{1,6}}\])? *",
        rf"\[?[EWIF](?P<mo>\d)(?P<d>\d{{2}}) +{_CLOCK}(?: +\d{{1,9}})?(?: +[\w./-]{{1,200}}:\d{{1,6}}\])? *",
        rf"\[?(?P<mo>\d{{1,2}})[/-](?P<d>\d{{1,2}}) +{_CLOCK}{_CLOSE}",
        rf"\[?(?:[A-Z][a-z]{{2}},? +)?(?P<mon>[A-Z][a-z]{{2}}) +(?P<d>\d{{1,2}}) +{_CLOCK}"
        rf"(?: [A-Z]{{3,4}})?(?: +(?P<y>\d{{4}}))?{_CLOSE}",
        rf"\[{_CLOCK}\] *",
        rf"{_CLOCK}(?= )[ \t]+(?:[-|][ \t]+)?",
    )
)
_UPTIME = re.compile(r"\[ *(?P<up>\+?\d{1,9}\.\d{3,9})\] *")
_EPOCH = re.compile(r"\[?(?P<epoch>1[5-9]\d{8})(?:\.\d{1,9})?\]?(?=[ :|])[ :|]*")
_STARTS = re.compile(r"[\[({<]?(?:\d|[EWIFD]\d|[A-Z][a-z]{2}[, ])")


def read_clock(text: str, start: int = 0) -> tuple[float | None, int] | None:
    """The time at `start` and where the text goes on after it; a time of None where only an uptime is printed."""
    if not _STARTS.match(text, start):
        return None
    if found := _UPTIME.match(text, start):
        return None, found.end()
    for form in _FORMS:
        found = form.match(text, start)
        if found and (seconds := _seconds(found.groupdict())) is not None:
            return seconds, found.end()
    if found := _EPOCH.match(text, start):
        return float(found["epoch"]), found.end()
    return None


def _seconds(parts: dict[str, str | None]) -> float | None:
    month = _MONTHS.get(parts.get("mon") or "") if parts.get("mon") else int(parts.get("mo") or 1)
    year, day = int(parts.get("y") or 1972), int(parts.get("d") or 1)
    if month is None or not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    fraction = float(f"0.{parts.get('f') or 0}")
    return timegm((year, month, day, int(parts["h"] or 0), int(parts["mi"] or 0), int(parts["s"] or 0))) + fraction


def has_year(seconds: float) -> bool:
    """Whether a time was printed with its year; without one it lies in 1972."""
    return seconds >= 1e8


def in_year_of(seconds: float, near: float) -> float:
    """A time printed without its year (or without its date), moved next to one that was printed in full."""
    if has_year(seconds) or not has_year(near):
        return seconds
    if seconds < _DAY_ONE + 86400:
        return near - near % 86400 + seconds % 86400
    parts = datetime.fromtimestamp(seconds, UTC)
    year = datetime.fromtimestamp(near, UTC).year
    return seconds - timegm((1972, 1, 1, 0, 0, 0)) + timegm((year, 1, 1, 0, 0, 0)) - _leap(parts.month, year)


_DAY_ONE = float(timegm((1972, 1, 1, 0, 0, 0)))


def _leap(month: int, year: int) -> float:
    """1972 had a 29th of February; most years have none."""
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 0.0 if month <= 2 or is_leap else 86400.0
