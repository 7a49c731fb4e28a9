"""Reads the summary torchrun prints when a node's workers failed. It is right about that node, never about the job."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headway.diagnosis.lines import Line

_BEGIN = "Failures:"
_ROOT = "Root Cause (first observed failure):"
_FIELD = re.compile(r"  (time|host|rank|exitcode|error_file) {0,8}: ")
_NO_FILE = "<N/A>"
_BLOCK = re.compile(r"\[\d{1,7}\]:|[-=]{20}")
_NUMBER = re.compile(r"-?\d{1,9}")
_TIME = "%Y-%m-%d_%H:%M:%S"
_ZONE_STEP = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed worker. `time` is the node's local time without a zone; `exitcode` is negative for a signal."""

    rank: int
    exitcode: int
    time: datetime | None
    error_file: str | None
    is_root: bool
    line: Line

    def at(self, near: datetime) -> datetime:
        """`time` in UTC, its unprinted zone chosen so that it falls nearest to `near`, when torchrun itself ended."""
        if self.time is None:
            return near
        naive = self.time.replace(tzinfo=UTC)
        return naive + round((near - naive) / _ZONE_STEP) * _ZONE_STEP


def split(lines: Sequence[Line]) -> tuple[Sequence[Line], list[Failure]]:
    """Return the lines before the last summary, and its failures, the root cause first; none if there is no summary."""
    starts = [index for index, line in enumerate(lines) if line.text.strip() == _BEGIN]
    return (lines[: starts[-1]], _failures(lines[starts[-1] :])) if starts else (lines, [])


def _failures(lines: Sequence[Line]) -> list[Failure]:
    found: list[Failure] = []
    block: dict[str, Line] = {}
    is_root = False
    for line in [*lines, Line(0, "=" * 20)]:
        if match := _FIELD.match(line.text):
            block[match.group(1)] = line
        elif _BLOCK.match(line.text):
            found += _failure(block, is_root)
            block = {}
        elif line.text.strip() == _ROOT:
            is_root = True
    return sorted(found, key=lambda failure: not failure.is_root)


def _failure(block: dict[str, Line], is_root: bool) -> list[Failure]:
    values = {name: line.text.partition(":")[2].strip() for name, line in block.items()}
    rank, code = (_NUMBER.match(values.get(name, "")) for name in ("rank", "exitcode"))
    if rank is None or code is None:
        return []
    error_file = values.get("error_file", _NO_FILE)
    return [
        Failure(
            rank=int(rank.group()),
            exitcode=int(code.group()),
            time=_time(values.get("time", "")),
            error_file=None if error_file == _NO_FILE else error_file,
            is_root=is_root,
            line=block["exitcode"],
        )
    ]


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _TIME)  # noqa: DTZ007 (its zone is not printed)
    except ValueError:
        return None
