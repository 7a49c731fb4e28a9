"""Whether a job goes on after an attempt ended badly: the verdict, and how often it was tried without moving on.

Decides nothing about which checkpoint or which nodes; a node to keep away from is only advice to the scheduler.
"""

from dataclasses import dataclass
from enum import StrEnum

from headway.diagnosis.cause import Cause, Retry, usual_retry
from headway.diagnosis.verdict import Fault, Owner, Verdict

SAME_STEP_LIMIT = 2
"""A fault that came back at the same step so often comes back: it is in the program or its data."""
_OF_THE_PROGRAM = frozenset({Fault.CRASHED, Fault.UNKNOWN, Fault.PEER_CLOSED, Fault.STALLED})
"""Faults that may be a machine's or the program's: coming back at the same step tells which."""
SUSPECT_AFTER = 2
"""So many failures in a row without progress, and the node of an operator's fault is avoided; if down, at once."""


class Reason(StrEnum):
    """Why a job goes on or does not."""

    SUCCEEDED = "succeeded"
    STOPPED = "stopped"
    PREEMPTED = "preempted"
    DRILL = "drill"
    WORTH_RETRYING = "worth-retrying"
    NOT_WORTH_RETRYING = "not-worth-retrying"
    NO_PROGRESS = "no-progress"
    SAME_STEP = "same-step"


@dataclass(frozen=True, slots=True)
class Decision:
    """`failures`: how many attempts in a row have now failed without progress. `exclude`: nodes better avoided."""

    resume: bool
    reason: Reason
    failures: int
    exclude: tuple[str, ...] = ()


def recover(verdict: Verdict, failures: int, retries: int, progressed: bool, repeats: int = 0) -> Decision:
    """Decide whether to resume.

    `failures`: attempts that failed in a row before this one without getting past the checkpoint they started from;
    `progressed`: this attempt got past it, so the count begins anew. A job is resumed at most `retries` times in a row
    without progress. Drills and preemptions are Headway's own doing and use up nothing. `repeats`: attempts before this
    one that the same fault ended at the same step; after `SAME_STEP_LIMIT` it is the researcher's.
    """
    before = 0 if progressed else failures
    if verdict.fault is Fault.NONE:
        return Decision(False, Reason.SUCCEEDED, before)
    if verdict.fault is Fault.STOPPED:
        return Decision(verdict.retry, Reason.PREEMPTED if verdict.retry else Reason.STOPPED, before)
    if verdict.drill:
        return Decision(True, Reason.DRILL, before)
    if not verdict.retry:
        return Decision(False, Reason.NOT_WORTH_RETRYING, before + 1)
    if repeats >= SAME_STEP_LIMIT and verdict.fault in _OF_THE_PROGRAM:
        return Decision(False, Reason.SAME_STEP, before + 1)
    if before + 1 > retries:
        return Decision(False, Reason.NO_PROGRESS, before + 1)
    again = verdict.owner is Owner.OPERATOR and before + 1 >= SUSPECT_AFTER
    is_suspect = verdict.node is not None and (again or verdict.fault is Fault.NODE_DOWN or _is_the_nodes(verdict))
    exclude = (verdict.node,) if is_suspect and verdict.node else ()
    return Decision(True, Reason.WORTH_RETRYING, before + 1, exclude)


def _is_the_nodes(verdict: Verdict) -> bool:
    """Whether the cause is one that a restart on the same node would meet again."""
    return verdict.cause is not None and usual_retry(Cause(verdict.cause)) is Retry.RESTART_EXCLUDE_NODE
