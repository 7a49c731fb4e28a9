"""What a rule says of one rank: the fault it sees, how sure it is, and whether the rank only followed another."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from headway.diagnosis.lines import Line
from headway.diagnosis.seen import Seen
from headway.diagnosis.verdict import Fault


@dataclass(frozen=True, slots=True)
class Claim:
    """A fault of one rank. `lines` are the lines that say so, the most telling first."""

    seen: Seen
    fault: Fault
    confidence: float
    follower: bool = False
    location: str | None = None
    detail: str | None = None
    lines: tuple[Line, ...] = ()

    @property
    def rank(self) -> int:
        return self.seen.exit.rank

    @property
    def at(self) -> datetime:
        """When it failed: by its own error file where there is one, else by its exit."""
        return self.seen.exit.error_at or self.seen.exit.at


Rule = Callable[[Seen], Claim | None]
