"""What a log's reading is worth against its truth: records right, records invented, lines in the right phase."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from headway.diagnosis.progress import Progress, Record

FIELDS = ("step", "total_steps", "epoch", "loss", "seconds_per_step", "eta_s")
HELD_OUT_SEED = 5
HELD_OUT = 10
"""Frameworks whose logs stayed unread until every reader had been written."""


@dataclass
class Score:
    """Counts of one log, or of several together."""

    records: int = 0
    right: int = 0
    false: int = 0
    read: int = 0
    lines: int = 0
    in_phase: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        """Put another log's counts to these."""
        for name in ("records", "right", "false", "read", "lines", "in_phase"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missed += other.missed


def framework(path: Path) -> str:
    """`hf-trainer` of `hf-trainer-01.json`."""
    return path.stem.rsplit("-", 1)[0]


def held_out(folder: Path) -> set[str]:
    """The frameworks kept apart, chosen by the committed seed among all in a folder."""
    return set(Random(HELD_OUT_SEED).sample(sorted({framework(path) for path in folder.glob("*.log")}), HELD_OUT))


def lines_of(path: Path) -> list[str]:
    """A log's lines, its carriage returns kept."""
    return path.read_bytes().decode().removesuffix("\n").split("\n")


def score(path: Path, found: Progress) -> Score:
    """Compare what was read of a log with the truth file at `path`."""
    truth = json.loads(path.read_text())
    wanted, got = _placed(truth["records"]), _placed([vars_of(record) for record in found.records])
    made = Score(records=len(truth["records"]), read=len(found.records))
    for place, records in wanted.items():
        there = got.get(place, [])
        for index, record in enumerate(records):
            is_right = index < len(there) and all(_same(name, there[index][name], record.get(name)) for name in FIELDS)
            made.right += is_right
            if not is_right:
                made.missed.append(f"{path.stem} {place}: {record} read as {there[index : index + 1]}")
    forbidden = _forbidden(truth)
    for place, records in got.items():
        if len(records) > len(wanted.get(place, [])) and (place[0] in forbidden or place in forbidden):
            made.false += len(records) - len(wanted.get(place, []))
            made.missed.append(f"{path.stem} {place}: invented")
    _phases(truth, found, len(lines_of(path.with_suffix(".log"))), made)
    return made


def vars_of(record: Record) -> dict[str, Any]:
    """A record as the dict that is printed."""
    return {name: getattr(record, name) for name in ("line", "segment", *FIELDS)}


def _placed(records: list[dict[str, Any]]) -> dict[tuple[int, int | None], list[dict[str, Any]]]:
    placed: dict[tuple[int, int | None], list[dict[str, Any]]] = {}
    for record in records:
        placed.setdefault((record["line"], record.get("segment")), []).append(record)
    return placed


def _forbidden(truth: dict[str, Any]) -> set[int | tuple[int, int | None]]:
    places: set[int | tuple[int, int | None]] = set(truth["negatives"])
    places |= {(line, segment) for line, segment in truth.get("negative_segments", [])}
    return places | {(other["line"], other.get("segment")) for other in truth.get("other", [])}


def _same(name: str, got: Any, wanted: Any) -> bool:
    if got is None or wanted is None:
        return got is None and wanted is None
    got, wanted = float(got), float(wanted)
    if math.isnan(got) or math.isnan(wanted):
        return math.isnan(got) and math.isnan(wanted)
    return math.isclose(got, wanted, rel_tol=0.01 if name == "seconds_per_step" else 1e-6, abs_tol=1e-9)


def _phases(truth: dict[str, Any], found: Progress, count: int, made: Score) -> None:
    said = {line: one.phase.value for one in found.phases for line in range(one.from_line, one.to_line + 1)}
    for wanted in truth["phases"]:
        for line in range(wanted["from_line"], min(wanted["to_line"], count) + 1):
            made.lines += 1
            made.in_phase += said.get(line) == wanted["phase"]
