"""The values in and out: what one line, or one refresh of a bar, says about training. Decides nothing."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """What a job does while it prints a line."""

    STARTUP = "startup"
    TOKENISING = "tokenising"
    COMPILING = "compiling"
    TRAINING = "training"
    EVALUATION = "evaluation"
    SAVING = "saving"


@dataclass(frozen=True, slots=True)
class Record:
    """One progress record, with what that line or segment prints and nothing else; None: not printed there.

    `line` counts from 1; `segment` from 1 among the parts between carriage returns, None where the line holds none.
    `loss` may be nan. Durations are seconds.
    """

    line: int = 0
    segment: int | None = None
    step: int | None = None
    total_steps: int | None = None
    epoch: float | None = None
    loss: float | None = None
    seconds_per_step: float | None = None
    eta_s: float | None = None

    def at(self, line: int, segment: int | None) -> "Record":
        """The same record, placed."""
        return replace(self, line=line, segment=segment)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader makes of a piece of text: a record, or only a phase. Neither: it is known, and no progress."""

    record: Record | None = None
    phase: Phase | None = None
    reader: str = ""


@dataclass(frozen=True, slots=True)
class PhaseRange:
    """Lines `from_line` to `to_line`, both included, in one phase."""

    from_line: int
    to_line: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Progress:
    """A whole log read. `reader`: who read most of the records; None: nobody matched."""

    reader: str | None
    records: tuple[Record, ...]
    phases: tuple[PhaseRange, ...]

    @property
    def newest(self) -> Record:
        """The last value of each kind that was printed; a bar and its logger line tell different ones."""
        told: dict[str, Any] = {}
        for record in self.records[-RECENT:]:
            told.update({name: value for name, value in as_dict(record).items() if value is not None})
        return Record(**told)


RECENT = 16
"""How many of the newest records count as now."""


def as_dict(record: Record) -> dict[str, Any]:
    """A record's values by their names, in order."""
    return {name: getattr(record, name) for name in Record.__slots__}
