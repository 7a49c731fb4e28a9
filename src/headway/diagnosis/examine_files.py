"""`examine_files`: what a folder of log files shows, as the object that people's programs read.

Takes bytes and gives plain values; opens no file, reads no clock. Where the evidence does not say, a field is None.
"""

from collections.abc import Sequence
from typing import TypedDict

from headway.diagnosis.describe import steps
from headway.diagnosis.finding.conclude import conclude_reading
from headway.diagnosis.finding.finding import Finding
from headway.diagnosis.reading.names import read_name
from headway.diagnosis.reading.read import Reading, Source, read
from headway.diagnosis.signs.table import Table
from headway.diagnosis.verdict import Owner
from headway.domain.errors import Language

LONGEST_LINE = 600
ACTORS = {Owner.RESEARCHER: "dev", Owner.OPERATOR: "ops", Owner.NOBODY: None}


class EvidenceOut(TypedDict):
    """A line a finding rests on: file, offset of its first byte, and what it says (at most 600 characters)."""

    file: str
    offset: int
    line: str


class ExaminedOut(TypedDict):
    """What `headway examine DIR --json` prints."""

    cause_class: str
    first_rank: int | None
    first_node: str | None
    first_role: str | None
    code_location: str | None
    actor: str | None
    retry: str
    confidence: float
    followers: list[int]
    evidence: list[EvidenceOut]
    next_steps: list[str]


def examine_files(sources: Sequence[Source], language: Language, table: Table | None = None) -> ExaminedOut:
    """What stopped the job whose logs these are, where first, whose move it is; the steps in the reader's language."""
    reading = read(sorted(sources, key=lambda source: source.path))
    finding = conclude_reading(reading, table or Table())
    return {
        "cause_class": str(finding.cause),
        "first_rank": finding.rank,
        "first_node": finding.node,
        "first_role": finding.role,
        "code_location": finding.location,
        "actor": ACTORS[finding.owner],
        "retry": str(finding.retry),
        "confidence": round(finding.confidence, 2),
        "followers": list(finding.followers),
        "evidence": _evidence(reading, finding),
        "next_steps": steps(finding.cause, language),
    }


def reading_order(found: ExaminedOut, paths: Sequence[str]) -> list[str]:
    """The files a person reads, in order: the main process's, then the first fault's, then the rest of the evidence."""
    quoted = list(dict.fromkeys(line["file"] for line in found["evidence"]))
    main = [path for path in paths if _is_main(path)]
    return list(dict.fromkeys([*main[:1], *quoted]))


def _is_main(path: str) -> bool:
    base = path.rpartition("/")[2]
    return read_name(path).rank == 0 or base.startswith(("main", "master", "driver", "launcher", "controller"))


def _evidence(reading: Reading, finding: Finding) -> list[EvidenceOut]:
    seen: set[tuple[int, int]] = set()
    quoted: list[EvidenceOut] = []
    for entry in finding.lines:
        if (entry.file, entry.offset) not in seen:
            seen.add((entry.file, entry.offset))
            line = entry.raw[:LONGEST_LINE]
            quoted.append({"file": reading.paths[entry.file], "offset": entry.offset, "line": line})
    return quoted
