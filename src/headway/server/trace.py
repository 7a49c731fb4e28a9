"""Traces of jobs, as CSV: what a rehearsal reads where a site has no past of its own yet, and benchmarks replay."""

import csv
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isnan
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.domain.parse import MOST
from headway.scheduler.rehearse import shape
from headway.scheduler.replay import Past
from headway.scheduler.snapshot import QueuedJob

COLUMNS = ("project", "submit_s", "duration_s", "gpus", "limit_s")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
LONGEST = 100 * 366 * 86400.0
"""Seconds: what lies farther off is no time of a job."""


@dataclass(frozen=True, slots=True)
class Row:
    """One job of a trace; times in seconds."""

    project: str
    user: str
    submitted: float
    length: float
    devices: int
    limit: float | None


def read(path: Path, per_node: int) -> tuple[list[Past], int]:
    """The jobs of a trace by submission, and how many rows were left out. Raises as `rows` does."""
    found, left_out = rows(path)
    return list(jobs(found, per_node)), left_out


def rows(path: Path, keep: Callable[[Row], bool] = lambda _: True) -> tuple[list[Row], int]:
    """The rows of a trace by submission, those to keep; and how many can be no job's: without devices, times or an end.

    Raises `trace-unreadable` or `trace-columns`, naming what is missing.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            table = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
            if missing:
                raise PlatformError("trace-columns", path=str(path), missing=", ".join(missing))
            found = [_row(given) for given in table]
    except (OSError, EOFError, zlib.error, csv.Error, UnicodeDecodeError) as problem:
        raise PlatformError("trace-unreadable", path=str(path), detail=str(problem)) from None
    kept = sorted((row for row in found if row is not None and keep(row)), key=lambda row: row.submitted)
    return kept, found.count(None)


def jobs(rows: Iterable[Row], per_node: int) -> Iterator[Past]:
    """Rows, by submission, as past jobs on nodes of so many devices; times count from the first."""
    first: float | None = None
    for number, row in enumerate(rows):
        first = row.submitted if first is None else first
        since = row.submitted - first
        job = QueuedJob(
            id=JobId(f"j{number:07}"),
            name="",
            project=row.project,
            owner=row.user,
            priority=Priority.NORMAL,
            request=shape(row.devices, per_node),
            submitted_at=EPOCH + timedelta(seconds=since),
            template="",
            limit=None if row.limit is None else timedelta(seconds=row.limit),
        )
        yield Past(job, since, row.length)


def _row(given: dict[str, str]) -> Row | None:
    """What a row says, if that can be a job's."""
    try:
        submitted, length, devices = (float(given[name]) for name in ("submit_s", "duration_s", "gpus"))
        limit = float(given["limit_s"] or 0)
    except (ValueError, TypeError):
        return None
    is_timed = 0 <= submitted <= LONGEST and 0 < length <= LONGEST and not isnan(limit)
    if not (is_timed and 1 <= devices <= MOST and devices.is_integer()):
        return None
    bound = limit if 0 < limit <= LONGEST else None
    return Row(given["project"], given.get("user") or "", submitted, length, int(devices), bound)
