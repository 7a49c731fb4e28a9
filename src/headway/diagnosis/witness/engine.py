"""What the engine said of an attempt: why it, or Headway, ended it; that a node gave it too little memory; that an
image could not be had. An engine's own word is first-hand, as an agent's is.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.evidence import Evidence
from headway.diagnosis.finding import decide
from headway.diagnosis.finding.advise import Situation, advise
from headway.diagnosis.finding.conclude import case_of
from headway.diagnosis.reading.read import Source, read
from headway.diagnosis.signs.table import Table
from headway.diagnosis.verdict import Fault, Owner
from headway.diagnosis.witness.own import Own
from headway.domain.attempt import LATE, PREEMPTED, TAKEN, TIME_LIMIT
from headway.domain.errors import say

OUT_OF_MEMORY, TIMEOUT = "out-of-memory", "timeout"
"""Words of batch systems in `Evidence.ended_for`."""
_KILL = 9
_OF_STOP: Mapping[str, Cause] = {
    PREEMPTED: Cause.PREEMPTED,
    TAKEN: Cause.PREEMPTED,
    TIME_LIMIT: Cause.TIME_LIMIT,
    "time-limit": Cause.TIME_LIMIT,
    LATE: Cause.SCHED_PENDING,
    "user": Cause.USER_CANCEL,
}
_OF_LAUNCH: Collection[Cause] = frozenset({Cause.IMAGE_PULL})
"""Causes by which a launch fails in an engine's own words."""


def cause_of_stop(evidence: Evidence) -> Cause | None:
    """The class of an end that was ordered. Whatever took the devices, a time limit that ran out is one."""
    if evidence.stop_reason == TAKEN and TIMEOUT in evidence.ended_for.values():
        return Cause.TIME_LIMIT
    return _OF_STOP.get(evidence.stop_reason or "")


def refusal(text: str) -> tuple[Cause, Owner, Retry] | None:
    """Why a launch was refused, whose move it is and whether to try again, where its words tell a class of causes."""
    case = case_of(reading := read([Source("engine.log", [text.encode(errors="replace")])]), table := Table())
    claim = decide.first_of([claim for claim in case.faults if decide.tier(claim) > 1])
    if claim is None or claim.cause not in _OF_LAUNCH:
        return None
    return claim.cause, *advise(Situation(claim, None, frozenset(), reading.entries, case.course, table))


def ran_out_of_memory(evidence: Evidence, node: str) -> bool:
    """Whether the engine ended what it ran on this node, its agent perhaps among it, for want of memory."""
    return evidence.ended_for.get(node) == OUT_OF_MEMORY


def with_word(own: Own, evidence: Evidence) -> Own:
    """The same, or memory that ran out where the engine says so of the node on which the rank was killed."""
    exit_ = own.ending.exit
    killed = exit_.signal == _KILL or (exit_.code is None and exit_.signal is None)
    if not killed or exit_.stopped_by_us or own.ending.drill or not ran_out_of_memory(evidence, exit_.node):
        return own
    if own.cause is Cause.HOST_OOM:
        return own
    detail = say("engine-kill")
    return replace(own, fault=Fault.HOST_OUT_OF_MEMORY, cause=Cause.HOST_OOM, claim=None, detail=detail, confidence=0.9)
