"""Concludes a case: reads its files, gathers claims, decides the first fault, and says whose move it is.

Pure: the same bytes and the same signs give the same finding, whatever the order of the files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.diagnosis.cause import Cause, Retry, usual_owner, usual_retry
from headway.diagnosis.finding import decide, exits
from headway.diagnosis.finding.absence import behind_at_milestone
from headway.diagnosis.finding.advise import Situation, advise
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.course import Course, course_of
from headway.diagnosis.finding.exits import TERMINATED, Exit
from headway.diagnosis.finding.finding import Finding
from headway.diagnosis.finding.followers import followers_of
from headway.diagnosis.finding.gather import gather
from headway.diagnosis.finding.locate import locate, place_in_code
from headway.diagnosis.finding.stalled import Clues, Stall, stall_of
from headway.diagnosis.finding.volumes import full_volume
from headway.diagnosis.reading.read import Reading
from headway.diagnosis.signs.sign import Kind
from headway.diagnosis.signs.table import Table
from headway.diagnosis.verdict import Owner

MOST_LINES = 6
CONFIDENCE = {4: 0.95, 3: 0.9, 2: 0.75, 1: 0.4}
_SILENT_CAUSES = frozenset({Cause.STORAGE_IO, Cause.DATA_STALL, Cause.THERMAL_SLOW})


def conclude_reading(reading: Reading, table: Table) -> Finding:
    """What stopped the job whose files these are, where first, and whose move it is."""
    case = case_of(reading, table)
    lead = decide.first_of([claim for claim in case.faults if decide.tier(claim) > 1])
    if lead is None:
        stall = stall_of(reading, case.clues)
        weak = decide.first_of(case.faults)
        if weak is None and stall is None:
            return _nothing(case.ends, case.course)
        if weak is None or (stall is not None and stall.cause is not Cause.HANG_UNKNOWN):
            assert stall is not None
            return _of_stall(reading, stall, case.clues)
        lead = weak
    return _of_fault(reading, lead, case)


@dataclass(frozen=True, slots=True)
class Case:
    """What a reading shows before anything is decided: claims that may have stopped the job, ends, the course."""

    faults: list[Claim]
    follows: list[Claim]
    hints: list[Claim]
    ends: list[Exit]
    course: Course
    table: Table

    @property
    def clues(self) -> Clues:
        """What is left to go by where there is no fault."""
        return Clues(self.follows, self.hints, self.course, self.table)


def case_of(reading: Reading, table: Table) -> Case:
    """Gather what a reading shows; teaches its world the processes that are told of."""
    ends = exits.find(reading.entries, reading.world)
    reading.refill()
    claims = gather(reading, ends, table)
    course = course_of(reading.entries)
    standing = decide.standing(claims, ends, course, reading.names)
    return Case(
        faults=[claim for claim in standing if claim.kind is Kind.FAULT],
        follows=[claim for claim in standing if claim.kind is Kind.FOLLOWER],
        hints=[claim for claim in claims if claim.kind is Kind.HINT],
        ends=ends,
        course=course,
        table=table,
    )


def _of_fault(reading: Reading, lead: Claim, case: Case) -> Finding:
    if full := full_volume(lead, reading.entries):
        lead.cause, lead.retry, lead.lines = Cause.DISK_FULL, None, [*lead.lines, full]
    place = locate(reading, lead, case.faults, case.ends)
    if place.rank is None and lead.cause in _SILENT_CAUSES:
        place.rank = behind_at_milestone(reading.entries)
    situation = Situation(lead, place.node, frozenset(reading.world.nodes), reading.entries, case.course, case.table)
    owner, retry = advise(situation)
    return Finding(
        cause=lead.cause,
        owner=owner,
        retry=retry,
        confidence=CONFIDENCE[decide.tier(lead)],
        rank=place.rank,
        node=place.node,
        role=place.role,
        device=lead.device,
        location=place_in_code(lead, [*case.faults, *case.follows]),
        at=lead.at,
        followers=followers_of(reading, lead, place.rank, [*case.follows, *case.faults], case.ends),
        lines=[*lead.lines, *(claim.entry for claim in case.follows)][:MOST_LINES],
        everywhere=place.everywhere,
    )


def _of_stall(reading: Reading, stall: Stall, clues: Clues) -> Finding:
    claim = Claim(stall.cause, 50, Kind.FAULT, (stall.lines or tuple(reading.entries))[0], stall.rank, stall.node)
    node = stall.node or (reading.world.node_of_rank.get(stall.rank) if stall.rank is not None else None)
    if stall.cause is Cause.DATA_STALL and not clues.course.begun:
        claim.owner, claim.retry = Owner.RESEARCHER, Retry.NO_RETRY  # a loader that never gave anything never will
    owner, retry = advise(
        Situation(claim, node, frozenset(reading.world.nodes), reading.entries, clues.course, clues.table)
    )
    named = set(stall.followers) if stall.followers else {c.rank for c in clues.follows if c.rank is not None}
    return Finding(
        cause=stall.cause,
        owner=owner,
        retry=retry,
        confidence=stall.confidence,
        rank=stall.rank,
        node=node,
        location=stall.location,
        followers=tuple(sorted(named - {stall.rank})),
        lines=list(stall.lines)[:MOST_LINES],
    )


def _nothing(ends: Sequence[Exit], course: Course) -> Finding:
    """Nothing stopped it, as far as its logs say; or it was ended and no line says why."""
    bad = [end for end in ends if end.code not in (0, -TERMINATED, 128 + TERMINATED)]
    if bad and not course.done:
        first = next((end for end in bad if end.is_root), bad[0])
        cause = Cause.HANG_UNKNOWN if first.code == 124 else Cause.USER_CODE_EXC
        return Finding(cause, usual_owner(cause), usual_retry(cause), 0.3, first.rank, first.node, lines=[first.entry])
    return Finding(Cause.NONE, Owner.NOBODY, Retry.NO_RETRY, 0.9 if course.done else 0.6, lines=list(course.done[-1:]))
