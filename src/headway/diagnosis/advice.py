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
_MAY_PASS = frozenset({Cause.COMM_BOOTSTRAP, Cause.IMAGE_PULL, Cause.STORAGE_IO})
"""Causes that operators mend but that also pass by themselves: tried once again before anybody is waited for."""
SURE_ENOUGH = 0.7
"""How sure a verdict must be before a job is held for it."""


class Course(StrEnum):
    """What becomes of a job after an attempt broke."""

    RESTART = "restart"
    EXCLUDE = "exclude"
    HOLD = "hold"
    STOP = "stop"


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
    AWAITS_FIX = "awaits-fix"


@dataclass(frozen=True, slots=True)
class Decision:
    """`failures`: how many attempts in a row have now failed without progress. `exclude`: nodes better avoided."""

    course: Course
    reason: Reason
    failures: int
    exclude: tuple[str, ...] = ()

    @property
    def resume(self) -> bool:
        """Whether it goes back to the queue now."""
        return self.course in (Course.RESTART, Course.EXCLUDE)


@dataclass(frozen=True, slots=True)
class History:
    """What came before a verdict.

    `failures`: attempts that failed in a row before this one without getting past the checkpoint they started from;
    `progressed`: this attempt got past it, so the count begins anew. `repeats`: attempts before this one that the same
    fault ended at the same step. `released`: the job was held for this verdict and has been let go.
    """

    failures: int = 0
    progressed: bool = False
    repeats: int = 0
    released: bool = False


def recover(verdict: Verdict, retries: int, past: History) -> Decision:
    """Decide what becomes of the job.

    A job is resumed at most `retries` times in a row without progress. Drills and preemptions are Headway's own doing
    and use up nothing. A fault that came back at the same step `SAME_STEP_LIMIT` times is the researcher's. What only
    an operator can put right holds the job, instead of breaking it again.
    """
    before = 0 if past.progressed else past.failures
    if verdict.fault is Fault.NONE:
        return Decision(Course.STOP, Reason.SUCCEEDED, before)
    if verdict.fault is Fault.STOPPED:
        return _of_stop(verdict, before)
    if verdict.drill:
        return Decision(Course.RESTART, Reason.DRILL, before)
    if not verdict.retry:
        return Decision(Course.STOP, Reason.NOT_WORTH_RETRYING, before + 1)
    if past.repeats >= SAME_STEP_LIMIT and verdict.fault in _OF_THE_PROGRAM:
        return Decision(Course.STOP, Reason.SAME_STEP, before + 1)
    if before + 1 > retries:
        return Decision(Course.STOP, Reason.NO_PROGRESS, before + 1)
    if not past.released and _awaits_fix(verdict, before):
        return Decision(Course.HOLD, Reason.AWAITS_FIX, before)
    again = verdict.owner is Owner.OPERATOR and before + 1 >= SUSPECT_AFTER and not past.released
    is_suspect = again or verdict.fault is Fault.NODE_DOWN or _is_the_nodes(verdict)
    if verdict.node is not None and is_suspect:
        return Decision(Course.EXCLUDE, Reason.WORTH_RETRYING, before + 1, (verdict.node,))
    return Decision(Course.RESTART, Reason.WORTH_RETRYING, before + 1)


def _of_stop(verdict: Verdict, before: int) -> Decision:
    if verdict.retry:
        return Decision(Course.RESTART, Reason.PREEMPTED, before)
    return Decision(Course.STOP, Reason.STOPPED, before)


def _awaits_fix(verdict: Verdict, before: int) -> bool:
    """Whether the next attempt would break the same way until somebody has acted."""
    if verdict.advice != Retry.RESTART_AFTER_OPS_FIX or verdict.confidence < SURE_ENOUGH:
        return False
    return before + 1 >= SUSPECT_AFTER or verdict.cause not in _MAY_PASS


def _is_the_nodes(verdict: Verdict) -> bool:
    """Whether a restart on the same node would meet the cause again."""
    advice = verdict.advice or (usual_retry(Cause(verdict.cause)) if verdict.cause is not None else None)
    return advice == Retry.RESTART_EXCLUDE_NODE
