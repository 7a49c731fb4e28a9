"""Whose move and what to do, where the circumstances of a case say more than its class does."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.diagnosis.cause import Cause, Retry, usual_owner, usual_retry
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.course import Course
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.signs.table import Table
from headway.diagnosis.verdict import Owner

_FOREIGN = re.compile(
    r"Process \d{1,9} has [\d.]{1,10} [KMGT]iB memory in use\. (?:Process \d|"
    r"Including non-PyTorch memory, this process)"
)
_FABRIC = re.compile(r"(?i)fabric ?manager.{0,60}(?:never|not|fail|inactive|stopped|dead)|nvswitch.{0,40}fatal|SXid")
_STARTS_LATER = re.compile(r"(?i)ContainerCreating|PodInitializing|waiting for master|is waiting to start|Pending\b")
_NOT_RUNNABLE = re.compile(r"BadConstraints|never runnable|non-runnable|held state")
_LIBRARY = re.compile(r"nccl[A-Z]\w{2,60}\(\)|lib(?:nccl|cuda|cudnn|cublas|hccl|rccl|ascendcl)\S{0,20}\.so")


@dataclass(frozen=True, slots=True)
class Situation:
    """A fault, where it was found, and what else the case says."""

    claim: Claim
    node: str | None
    nodes: frozenset[str]
    entries: Sequence[Entry]
    course: Course
    table: Table


def advise(case: Situation) -> tuple[Owner, Retry]:
    """The owner and what to do with the job; what the sign itself knows goes before the circumstances."""
    cause = case.claim.cause
    owner, retry = case.claim.owner or usual_owner(cause), case.claim.retry
    if retry is None and cause in _KNOW_BETTER:
        retry = _KNOW_BETTER[cause](case)
    if cause is Cause.DEVICE_OOM and any(_FOREIGN.search(line.text) for line in case.claim.lines):
        return Owner.OPERATOR, Retry.RESTART_AFTER_OPS_FIX
    if cause is Cause.PATH_PERM and case.claim.owner is None and not _elsewhere(case):
        owner = Owner.RESEARCHER
    return owner, retry or usual_retry(cause)


def _link(case: Situation) -> Retry | None:
    """A node that is not known cannot be left out."""
    return None if case.node else Retry.RESTART_AFTER_OPS_FIX


def _fabric(case: Situation) -> Retry | None:
    """A fabric that never came up is the node's; a version that does not fit is mended by installing another."""
    came_up = not any(_FABRIC.search(entry.text) for entry in case.entries)
    if case.node or not case.table.uses("fabric never came up") or not came_up:
        return None
    return Retry.RESTART_AFTER_OPS_FIX if "not yet initialized" in _said(case) or "802" in _said(case) else None


def _crash(case: Situation) -> Retry | None:
    """A crash before the first step comes again: a library that cannot do what is asked of it."""
    in_library = any(_LIBRARY.search(entry.text) for entry in case.entries)
    return Retry.NO_RETRY if in_library and not case.course.begun else None


def _driver(case: Situation) -> Retry | None:
    """One node's driver does not fit, while others run: go on without it."""
    return Retry.RESTART_EXCLUDE_NODE if case.node and _elsewhere(case) else None


def _timeout(case: Situation) -> Retry | None:
    """What fails before the first step fails again the same way; later it may pass."""
    return None if case.course.begun or not case.table.uses("before the first step") else Retry.RESTART_AFTER_OPS_FIX


def _preempted(case: Situation) -> Retry | None:
    stuck = case.table.uses("never runnable again") and any(_NOT_RUNNABLE.search(entry.text) for entry in case.entries)
    return Retry.RESTART_AFTER_OPS_FIX if stuck else None


def _bootstrap(case: Situation) -> Retry | None:
    """Peers that are only late are waited for."""
    return Retry.WAIT if any(_STARTS_LATER.search(entry.text) for entry in case.entries) else None


_KNOW_BETTER: dict[Cause, Callable[[Situation], Retry | None]] = {
    Cause.RDMA_LINK: _link,
    Cause.NVLINK_FABRIC: _fabric,
    Cause.NATIVE_CRASH: _crash,
    Cause.DRIVER_MISMATCH: _driver,
    Cause.COMM_TIMEOUT: _timeout,
    Cause.HCCL_COMM: _timeout,
    Cause.GLOO_COMM: _timeout,
    Cause.PREEMPTED: _preempted,
    Cause.COMM_BOOTSTRAP: _bootstrap,
}


def _elsewhere(case: Situation) -> bool:
    """Whether the job has other nodes, or pods, that do not show the fault."""
    pods = {entry.pod for entry in case.entries if entry.pod}
    return len(case.nodes) > 1 or len(pods) > 1


def _said(case: Situation) -> str:
    return "\n".join(line.text for line in case.claim.lines)
