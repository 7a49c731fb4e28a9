"""Whether a job goes on after an attempt ended badly: the verdict, and how often it was tried without moving on.

Decides nothing about which checkpoint or which nodes; a node to keep away from is only advice to the scheduler.
"""

from dataclasses import dataclass
from enum import StrEnum

from headway.diagnosis.verdict import Fault, Owner, Verdict

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


@dataclass(frozen=True, slots=True)
class Decision:
    """`failures`: how many attempts in a row have now failed without progress. `exclude`: nodes better avoided."""

    resume: bool
    reason: Reason
    failures: int
    exclude: tuple[str, ...] = ()


def recover(verdict: Verdict, failures: int, retries: int, progressed: bool) -> Decision:
    """Decide whether to resume.

    `failures`: attempts that failed in a row before this one without getting past the checkpoint they started from;
    `progressed`: this attempt got past it, so the count begins anew. A job is resumed at most `retries` times in a row
    without progress. Drills and preemptions are Headway's own doing and use up nothing.
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
    if before + 1 > retries:
        return Decision(False, Reason.NO_PROGRESS, before + 1)
    again = verdict.owner is Owner.OPERATOR and before + 1 >= SUSPECT_AFTER
    is_suspect = verdict.node is not None and (again or verdict.fault is Fault.NODE_DOWN)
    exclude = (verdict.node,) if is_suspect and verdict.node else ()
    return Decision(True, Reason.WORTH_RETRYING, before + 1, exclude)
