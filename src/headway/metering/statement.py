"""A project's month from the ledger: a line a job, waiting beside it at zero, totals by device type and basis.

What still runs is counted up to the statement's moment. Waiting never charges. Nothing is rounded: every figure is a
whole number of seconds times devices.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from io import StringIO
from zoneinfo import ZoneInfo

from headway.domain.ids import JobId
from headway.metering.entries import Entry, Interval, Line, Statement, Waiting
from headway.metering.intervals import Wait
from headway.metering.ledger import SECOND, post, whole
from headway.metering.months import Month

COLUMNS = ("project", "month", "job", "device_type", "basis", "device_seconds", "wait_seconds", "intervals", "open")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a statement is about: whose month, in which time zone, as known at which moment."""

    project: str
    month: Month
    zone: ZoneInfo
    as_of: datetime


def statement(entries: Iterable[Entry], unposted: Iterable[Interval], waits: Iterable[Wait], scope: Scope) -> Statement:
    """The statement of one project and month.

    Entries, intervals and waits of other projects and months are passed over. `unposted`: intervals without entries,
    open or closed; one whose attempt has entries is passed over, so that nothing counts twice.
    """
    entries, unposted = list(entries), list(unposted)
    posted = {entry.attempt for entry in entries}
    mine = month_entries(entries, unposted, scope)
    still_open = {interval.attempt for interval in unposted if interval.end is None} - posted
    lines = _lines(mine, {entry.job for entry in mine if entry.attempt in still_open})
    totals: Counter[str] = Counter()
    for line in lines:
        totals[total_key(line.device_type, line.basis)] += line.device_seconds
    return Statement(
        project=scope.project,
        month=str(scope.month),
        timezone=scope.zone.key,
        as_of=scope.as_of,
        lines=lines,
        waiting=_waiting(waits, scope),
        totals=dict(sorted(totals.items())),
        device_seconds=totals.total(),
    )


def month_entries(entries: Iterable[Entry], unposted: Iterable[Interval], scope: Scope) -> list[Entry]:
    """The month's entries of a project, with those that its intervals without any would have if they ended now."""
    entries = list(entries)
    posted = {entry.attempt for entry in entries}
    rest = [interval for interval in unposted if interval.attempt not in posted]
    closed = [replace(each, end=each.end or max(each.start, scope.as_of)) for each in rest]
    counted = [*entries, *post(closed, scope.zone)]
    return [entry for entry in counted if entry.project == scope.project and entry.month == str(scope.month)]


def total_key(device_type: str, basis: str) -> str:
    """How a total is named."""
    return f"{device_type}/{basis}"


def _lines(entries: Iterable[Entry], open_jobs: set[JobId]) -> tuple[Line, ...]:
    by_line: defaultdict[tuple[JobId, str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        by_line[entry.job, entry.device_type, entry.basis].append(entry)
    return tuple(
        Line(
            job=job,
            device_type=device_type,
            basis=basis,
            device_seconds=sum(entry.device_seconds for entry in parts),
            intervals=len({entry.attempt for entry in parts}),
            open=job in open_jobs,
        )
        for (job, device_type, basis), parts in sorted(by_line.items())
    )


def _waiting(waits: Iterable[Wait], scope: Scope) -> tuple[Waiting, ...]:
    first, last = scope.month.start(scope.zone), min(scope.month.end(scope.zone), whole(scope.as_of))
    seconds: Counter[JobId] = Counter()
    for wait in waits:
        since, until = max(first, whole(wait.start)), min(last, whole(wait.end or last))
        if wait.project == scope.project and until > since:
            seconds[wait.job] += (until - since) // SECOND
    return tuple(Waiting(job, waited) for job, waited in sorted(seconds.items()))


def csv_lines(statement: Statement) -> Iterator[str]:
    """The statement as CSV, line by line with its end: the header, one row a line, one row a wait at zero."""
    yield _row(COLUMNS)
    for line in statement.lines:
        charged = (line.device_type, line.basis, line.device_seconds, 0, line.intervals, str(line.open).lower())
        yield _row((statement.project, statement.month, line.job, *charged))
    for waiting in statement.waiting:
        yield _row(
            (statement.project, statement.month, waiting.job, "", "waiting", 0, waiting.wait_seconds, 0, "false")
        )


def _row(values: Iterable[object]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
