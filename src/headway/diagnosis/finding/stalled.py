"""Cases without a fault of anybody's own: only ranks that waited, or silence. Says the cause that is left, or none.

Order: a fault that was told weakly, a long operation that others waited for, collectives that differ, stacks, silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.diagnosis.cause import Cause
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.collective import Waiting, waiting_of
from headway.diagnosis.finding.course import Course, is_barrier
from headway.diagnosis.finding.stacks import Stack, stacks_of
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.read import Reading
from headway.diagnosis.signs.sign import WEAK
from headway.diagnosis.signs.table import Table

_SPECIFIC = (Cause.HCCL_COMM, Cause.GLOO_COMM, Cause.COMM_BOOTSTRAP, Cause.COMM_TIMEOUT)


@dataclass(frozen=True, slots=True)
class Stall:
    """What is left: a cause, whom the others wait for, where the waiting stands, and the lines that say so."""

    cause: Cause
    rank: int | None = None
    node: str | None = None
    location: str | None = None
    confidence: float = 0.5
    followers: tuple[int, ...] = ()
    lines: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Clues:
    """What is known of a case without faults: complaints, circumstances, its course, the judgements in use."""

    follows: Sequence[Claim]
    hints: Sequence[Claim]
    course: Course
    table: Table


def stall_of(reading: Reading, clues: Clues) -> Stall | None:
    """The stall a case without faults shows; None if nothing stands still."""
    follows, course = clues.follows, clues.course
    by_stacks = _by_stacks(stacks_of(reading.entries), clues.table)
    if by_stacks is not None:
        return by_stacks
    waiting = waiting_of(reading.entries, follows, reading.world)
    if waiting.ahead or (waiting.lines and not waiting.works):
        return Stall(
            Cause.HANG_UNKNOWN,
            waiting.suspect,
            waiting.node,
            confidence=0.5,
            followers=waiting.ahead,
            lines=waiting.lines,
        )
    waits = [claim for claim in follows if claim.cause is not Cause.NODE_DOWN]
    if waits:
        return _by_waits(reading, waits, clues, waiting)
    deaths = [claim for claim in follows if claim.weight > WEAK]
    if deaths and not course.done:
        return Stall(Cause.HANG_UNKNOWN, confidence=0.3, lines=tuple(claim.entry for claim in deaths[:3]))
    if course.silent:
        waits_for_data = not course.begun and any(hint.cause is Cause.DATA_STALL for hint in clues.hints)
        cause = Cause.DATA_STALL if waits_for_data else Cause.HANG_UNKNOWN
        return Stall(cause, confidence=0.5, lines=course.silent[:2])
    return None


def _by_waits(reading: Reading, waits: Sequence[Claim], clues: Clues, waiting: Waiting) -> Stall:
    course = clues.course
    lines = tuple(claim.entry for claim in waits[:3])
    location = next((claim.location for claim in waits if claim.location), None)
    if _is_long_operation(reading, waits, clues):
        return Stall(Cause.LONG_OP_TIMEOUT, location=location, confidence=0.8, lines=(*course.long[-1:], *lines))
    if waiting.differs or (waiting.is_tiny and course.begun and clues.table.uses("tiny collective")):
        return Stall(
            Cause.COLLECTIVE_DESYNC, waiting.suspect, confidence=0.8 if waiting.differs else 0.55, lines=waiting.lines
        )
    named = [claim.cause for claim in waits]
    cause = next((cause for cause in _SPECIFIC if cause in named), Cause.COMM_TIMEOUT)
    return Stall(
        cause, waiting.suspect, location=location, confidence=0.6 if waiting.suspect is not None else 0.45, lines=lines
    )


def _is_long_operation(reading: Reading, waits: Sequence[Claim], clues: Clues) -> bool:
    """Whether the others waited, before training began, for one that was still preparing something."""
    hints, course = clues.hints, clues.course
    if not course.long:
        return False
    first = min(waits, key=lambda claim: claim.place)
    in_barrier = any(h.cause is Cause.LONG_OP_TIMEOUT for h in hints) or any(
        is_barrier(e.text) for e in reading.entries if e.rank == first.rank or e.file == first.entry.file
    )
    goes_on = [e for e in course.long if e.file == first.entry.file and e.number > first.entry.number]
    before = [e for e in reading.entries if e.file == first.entry.file and e.number < first.entry.number][-6:]
    long_before = [e for e in before if e in course.long]
    tiny = any("NumelIn=1," in claim.entry.text for claim in waits)
    return bool(goes_on) or (bool(long_before) and (in_barrier or len(long_before) >= 2 or (tiny and not course.begun)))


def _by_stacks(stacks: Sequence[Stack], table: Table) -> Stall | None:
    """Ranks that wait in a collective wait for those who are elsewhere."""
    if len(stacks) < 2:
        return None
    waiting = [stack for stack in stacks if stack.kind == "collective"]
    elsewhere = [stack for stack in stacks if stack.kind != "collective"]
    if not waiting or not elsewhere:
        return None
    lines = tuple(stack.head for stack in [*elsewhere, *waiting][:4])
    followers = tuple(stack.rank for stack in waiting if stack.rank is not None)
    if len(elsewhere) > len(waiting) and table.uses("waiting minority"):
        return Stall(
            Cause.COLLECTIVE_DESYNC, location=waiting[0].own_frame, confidence=0.6, followers=followers, lines=lines
        )
    kind = elsewhere[0].kind
    cause = {"data": Cause.DATA_STALL, "storage": Cause.STORAGE_IO}.get(kind, Cause.HANG_UNKNOWN)
    rank = elsewhere[0].rank if len(elsewhere) == 1 else None
    return Stall(cause, rank, location=elsewhere[0].own_frame, confidence=0.75, followers=followers, lines=lines)
