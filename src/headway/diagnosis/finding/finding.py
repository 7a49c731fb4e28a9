"""What a case shows: the value that examining a folder of logs ends in. None where the evidence does not say."""

from dataclasses import dataclass, field

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.verdict import Owner


@dataclass(slots=True)
class Finding:
    """`followers`: ranks that only complained because another one was gone. `lines`: what the finding rests on."""

    cause: Cause
    owner: Owner
    retry: Retry
    confidence: float
    rank: int | None = None
    node: str | None = None
    role: str | None = None
    device: str | None = None
    location: str | None = None
    at: float | None = None
    followers: tuple[int, ...] = ()
    lines: list[Entry] = field(default_factory=list)
    everywhere: bool = False
