"""A claim: that a cause shows itself in a line, of whom, and how strongly. Who was first is decided over all claims."""

from dataclasses import dataclass, field

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.signs.sign import Kind
from headway.diagnosis.verdict import Owner


@dataclass(slots=True)
class Claim:
    """`copies`: how often the same was said by nobody in particular; `words`: what was said, for comparing.

    `frames`: those of the traceback it stands in, outermost first.
    """

    cause: Cause
    weight: int
    kind: Kind
    entry: Entry
    rank: int | None = None
    node: str | None = None
    device: str | None = None
    role: str | None = None
    at: float | None = None
    location: str | None = None
    owner: Owner | None = None
    retry: Retry | None = None
    words: str = ""
    copies: int = 1
    in_trace: bool = False
    frames: tuple[tuple[str, int], ...] = ()
    lines: list[Entry] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands: file and line."""
        return self.entry.file, self.entry.number
