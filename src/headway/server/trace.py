"""Imported traces of jobs, as CSV: what a rehearsal reads where a site has no past of its own yet."""

import csv
import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.scheduler.rehearse import shape
from headway.scheduler.replay import Past
from headway.scheduler.snapshot import QueuedJob

COLUMNS = ("project", "submit_s", "duration_s", "gpus", "limit_s")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def read(path: Path, per_node: int) -> list[Past]:
    """The jobs of a trace by submission; rows without devices, times or an end are left out.

    Raises `trace-unreadable` or `trace-columns`, naming what is missing.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            table = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
            if missing:
                raise PlatformError("trace-columns", path=str(path), missing=", ".join(missing))
            rows = sorted(_rows(table), key=lambda row: float(row["submit_s"]))
    except (OSError, UnicodeDecodeError) as problem:
        raise PlatformError("trace-unreadable", path=str(path), detail=str(problem)) from None
    first = float(rows[0]["submit_s"]) if rows else 0.0
    return [_past(number, row, first, per_node) for number, row in enumerate(rows)]


def _rows(table: Iterator[dict[str, str]]) -> Iterator[dict[str, str]]:
    for row in table:
        try:
            usable = float(row["gpus"]) >= 1 and float(row["duration_s"]) > 0 and float(row["submit_s"]) >= 0
        except (ValueError, TypeError):
            continue
        if usable:
            yield row


def _past(number: int, row: dict[str, str], first: float, per_node: int) -> Past:
    submitted = float(row["submit_s"]) - first
    limit = row["limit_s"]
    job = QueuedJob(
        id=JobId(f"j{number:07}"),
        name="",
        project=row["project"],
        owner=row.get("user") or "",
        priority=Priority.NORMAL,
        request=shape(int(float(row["gpus"])), per_node),
        submitted_at=EPOCH + timedelta(seconds=submitted),
        template="",
        limit=timedelta(seconds=float(limit)) if limit and float(limit) > 0 else None,
    )
    return Past(job, submitted, float(row["duration_s"]))
