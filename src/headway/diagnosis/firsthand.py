"""Adds to a verdict what was seen first-hand and what its last words say in detail: which of the forty classes it is.

Evidence beyond the log decides where the log misleads: a write that fails on a file system that is full is a full disk,
whatever the exception says. Changes whose move it is only together with the class.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headway.diagnosis.cause import Cause, Retry, usual_owner, usual_retry
from headway.diagnosis.evidence import Evidence
from headway.diagnosis.signs.sign import LIKELY, Kind
from headway.diagnosis.signs.table import Table
from headway.diagnosis.verdict import Fault, Verdict

_OF_FAULT = {
    Fault.CODE_ERROR: Cause.USER_CODE_EXC,
    Fault.DEVICE_OUT_OF_MEMORY: Cause.DEVICE_OOM,
    Fault.HOST_OUT_OF_MEMORY: Cause.HOST_OOM,
    Fault.CRASHED: Cause.NATIVE_CRASH,
    Fault.NODE_DOWN: Cause.NODE_DOWN,
}
_TOLD = frozenset({Fault.CODE_ERROR, Fault.UNKNOWN})
_WRITE_FAILED = re.compile(
    r"No space left|ENOSPC|Errno 28|[Dd]isk quota exceeded|inline_container|PytorchStreamWriter|unexpected pos \d"
    r"|file write failed|iostream error|[Ii]nput/output error|write error"
)
_FULL_SHARE = 0.005
_TABLE = Table()


def with_cause(verdict: Verdict, evidence: Evidence) -> Verdict:
    """The verdict with its class of the forty, where one is known; owner and retry advice follow a told class."""
    if verdict.cause is not None or verdict.drill:
        return verdict
    told = _told(verdict, evidence) if verdict.fault in _TOLD else None
    if told is None:
        return replace(verdict, cause=_OF_FAULT.get(verdict.fault))
    cause, seen = told
    return replace(
        verdict,
        cause=cause,
        owner=usual_owner(cause),
        retry=usual_retry(cause) not in (Retry.NO_RETRY, Retry.WAIT),
        detail=f"{verdict.detail}; {seen}" if seen else verdict.detail,
    )


def _told(verdict: Verdict, evidence: Evidence) -> tuple[Cause, str | None] | None:
    """The class that the last words name, and what was seen besides; None where they name none."""
    words = verdict.detail or ""
    full = _full_disk(evidence, verdict.node)
    if full is not None and _WRITE_FAILED.search(words):
        return Cause.DISK_FULL, f"{full} is full"
    found = [one.sign for one in _TABLE.matches(words, words.lower()) if one.sign.kind is Kind.FAULT]
    best = max(found, key=lambda sign: sign.weight, default=None)
    return (best.cause, None) if best is not None and best.weight >= LIKELY else None


def _full_disk(evidence: Evidence, node: str | None) -> str | None:
    """A file system of the node that was full when a rank broke."""
    disks = [disk for scene in evidence.scenes if scene.node == node for disk in scene.disks]
    return next((str(disk.get("mount") or disk.get("path")) for disk in disks if _is_full(disk)), None)


def _is_full(disk: Mapping[str, Any]) -> bool:
    total, free, files = (disk.get(name) for name in ("total_bytes", "free_bytes", "free_files"))
    if disk.get("read_only") or not isinstance(total, int) or not isinstance(free, int) or not total:
        return False
    return free <= _FULL_SHARE * total or (files == 0 and disk.get("kind") != "overlay")
