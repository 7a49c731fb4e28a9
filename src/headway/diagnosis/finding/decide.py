"""Decides which claim is the first fault: faults before those who only follow, events of machines before exceptions,
then by time and place. A fault after which its rank went on training stopped nothing.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from headway.diagnosis.cause import Cause
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.course import Course
from headway.diagnosis.finding.exits import Exit
from headway.diagnosis.reading.names import FileName
from headway.diagnosis.signs.sign import LIKELY, VAGUE, Kind

ORDERS = frozenset({Cause.PREEMPTED, Cause.TIME_LIMIT, Cause.USER_CANCEL, Cause.SCHED_PENDING, Cause.IMAGE_PULL})
"""What schedulers and people do to a job: it ends this attempt though a later one goes on."""
_UNASKED = re.compile(r"CANCELLED AT \S{1,40} \*\*\*")
NEAR_S = 120.0
CLOSE_S = 2.0
CARRIED = 2
"""Lines around an abort that may say what it carries."""
WARNINGS = frozenset({"WARN", "WARNING", "W", "警告"})
RIGHT_AFTER = 16
"""Lines after an exception that may still explain it."""


def standing(claims: Sequence[Claim], ends: Sequence[Exit], course: Course, names: Sequence[FileName]) -> list[Claim]:
    """The claims that may have stopped the job: not survived, and not the clumsy end of another fault."""
    kept = [claim for claim in claims if claim.kind is not Kind.HINT and not _survived(claim, course, names)]
    return [claim for claim in kept if not _is_aftermath(claim, kept) and not _is_cleanup(claim, ends)]


def _is_cleanup(claim: Claim, ends: Sequence[Exit]) -> bool:
    """A launcher cancels what is left of a job once a task of it has failed: nobody asked for that."""
    if claim.cause is not Cause.USER_CANCEL or not _UNASKED.search(claim.entry.text):
        return False
    return any(
        end.entry.file == claim.entry.file and end.entry.number < claim.entry.number and end.code > 0 for end in ends
    )


def _survived(claim: Claim, course: Course, names: Sequence[FileName]) -> bool:
    if claim.cause is Cause.SCHED_PENDING:
        return course.runs
    if claim.cause in ORDERS and claim.weight >= 70:
        return False
    if names[claim.entry.file].is_system:
        return course.goes_on_later(claim)
    if (claim.entry.level in WARNINGS or claim.weight < VAGUE) and course.ended_before(claim):
        return True
    return course.goes_on_after(claim)


def _is_aftermath(claim: Claim, claims: Sequence[Claim]) -> bool:
    """A crash while a process that had an exception already was taken down."""
    if claim.cause is not Cause.NATIVE_CRASH:
        return False
    if claim.entry.text.startswith("terminate called") and any(_explains(other, claim) for other in claims):
        return True
    return any(
        other.in_trace
        and other.kind is Kind.FAULT
        and other.cause is not Cause.NATIVE_CRASH
        and other.entry.file == claim.entry.file
        and other.place < claim.place
        and (other.rank == claim.rank or claim.rank is None or other.rank is None)
        for other in claims
    )


def _explains(other: Claim, abort: Claim) -> bool:
    """Whether an abort only carries what another one's end did to its process: said right below."""
    near = abs(other.entry.number - abort.entry.number) <= CARRIED
    return other.kind is Kind.FOLLOWER and other.entry.file == abort.entry.file and near


def tier(claim: Claim) -> int:
    """How much a claim's kind of evidence goes before others."""
    weight = claim.weight
    return 4 if weight >= 90 else 3 if weight >= 65 else 2 if weight >= 45 else 1


def first_of(faults: Sequence[Claim]) -> Claim | None:
    """The first fault among faults: the best kind of evidence, then the earliest, then the earliest in its file."""
    if not faults:
        return None
    best = max(tier(claim) for claim in faults)
    leading = [claim for claim in faults if tier(claim) == best]
    lead = _explained(_earliest(leading), faults)
    lesser = [claim for claim in faults if tier(claim) == best - 1 and _is_long_before(claim, lead)]
    return _earliest(lesser) if lesser and best > 2 else lead


def _explained(lead: Claim, faults: Sequence[Claim]) -> Claim:
    """An exception that says nothing particular, explained by what the same speaker said right after it."""
    if lead.cause is not Cause.USER_CODE_EXC or lead.weight > VAGUE + 5:
        return lead
    after = [
        claim
        for claim in faults
        if claim.weight >= LIKELY
        and claim.entry.file == lead.entry.file
        and 0 < claim.entry.number - lead.entry.number <= RIGHT_AFTER
        and claim.rank in (lead.rank, None)
    ]
    return min(after, key=lambda claim: claim.place, default=lead)


def _is_long_before(claim: Claim, lead: Claim) -> bool:
    """Whether a lesser claim is so much earlier that the greater one cannot have caused it."""
    if claim.at is None or lead.at is None or claim.rank is None or not claim.in_trace:
        return False
    return lead.at - claim.at > NEAR_S


def _earliest(claims: Sequence[Claim]) -> Claim:
    """By time where all have one; within two seconds, at once: then the stronger, then the lower rank."""
    timed = [claim for claim in claims if claim.at is not None]
    if timed and len(timed) == len(claims):
        least = min(claim.at for claim in timed if claim.at is not None)
        at_once = [claim for claim in timed if claim.at is not None and claim.at - least <= CLOSE_S]
        return min(at_once, key=lambda c: (-c.weight // 10, c.at, c.rank if c.rank is not None else 1 << 30, c.place))
    by_words: dict[tuple[Cause, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        by_words[(claim.cause, claim.words)].append(claim)
    first = min(claims, key=lambda c: (-c.weight // 10, c.place) if timed else (c.place[0], c.place[1]))
    same = by_words[(first.cause, first.words)]
    return min(same, key=lambda c: (c.rank if c.rank is not None else 1 << 30, c.place))
