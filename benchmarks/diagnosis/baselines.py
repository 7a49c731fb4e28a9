"""What a list of keywords finds: the last hit, the first, or the most serious. The floor that reasoning must beat.

The list is the usual one of log scanners. A hit says its class; its rank is the one printed in front of the line.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from headway.diagnosis.cause import Cause, usual_owner, usual_retry
from headway.diagnosis.examine_files import ACTORS

KEYWORDS: tuple[tuple[str, Cause], ...] = (
    (r"fallen off the bus|Xid.*: (?:79|119|120)\b", Cause.GPU_LOST),
    (r"ECC|Xid.*: (?:48|94|95)\b", Cause.GPU_ECC),
    (r"NVLink|Xid.*: 74\b|Error 802", Cause.NVLINK_FABRIC),
    (r"NODE_FAIL|NODE FAILURE|Kernel panic", Cause.NODE_DOWN),
    (r"oom-kill|OOMKilled|Killed process|MemoryError|signal: Killed", Cause.HOST_OOM),
    (r"/dev/shm|shared memory", Cause.SHM_FULL),
    (r"No space left|quota exceeded", Cause.DISK_FULL),
    (r"Input/output error|Stale file handle|nfs: server", Cause.STORAGE_IO),
    (r"Too many open files|can't start new thread", Cause.OS_LIMIT),
    (r"out of memory|OutOfMemoryError", Cause.DEVICE_OOM),
    (r"port error|Link down|with error 12", Cause.RDMA_LINK),
    (r"device-side assert", Cause.DEVICE_ASSERT),
    (r"illegal memory access", Cause.CUDA_ILLEGAL_ACCESS),
    (r"Segmentation fault|SIGSEGV", Cause.NATIVE_CRASH),
    (r"ModuleNotFoundError|ImportError|undefined symbol", Cause.DEP_IMPORT),
    (r"version mismatch|Error 803|API mismatch", Cause.DRIVER_MISMATCH),
    (r"ImagePullBackOff|ErrImagePull", Cause.IMAGE_PULL),
    (r"PREEMPTION|[Pp]reempted", Cause.PREEMPTED),
    (r"TIME LIMIT", Cause.TIME_LIMIT),
    (r"FailedScheduling|cannot be scheduled", Cause.SCHED_PENDING),
    (r"FileNotFoundError|PermissionError", Cause.PATH_PERM),
    (r"size mismatch for|Missing key", Cause.CKPT_MISMATCH),
    (r"PytorchStreamReader|corrupt", Cause.CKPT_CORRUPT),
    (r"Connection refused|timed out after|No route to host|Name or service not known", Cause.COMM_BOOTSTRAP),
    (r"EI000\d|HCCL", Cause.HCCL_COMM),
    (r"gloo", Cause.GLOO_COMM),
    (r"[Nn]a[Nn]\b|loss scale", Cause.NUMERIC_NAN),
    (r"NCCL|Watchdog|timeout", Cause.COMM_TIMEOUT),
    (r"Error|Exception|Traceback", Cause.USER_CODE_EXC),
)
_COMPILED = tuple((re.compile(pattern), cause) for pattern, cause in KEYWORDS)
_RANK = re.compile(r"\[(?:[Rr]ank[ :]?)?(\d{1,6})\]|^\s{0,4}(\d{1,5}): |\[\d,(\d{1,6})\]<")

Hit = tuple[int, str]


def _hits(logs: Mapping[str, bytes]) -> list[Hit]:
    lines = [line for path in sorted(logs) for line in logs[path].decode(errors="replace").splitlines()]
    return [
        (at, line) for line in lines for at, (pattern, _) in enumerate(_COMPILED[:]) if pattern.search(line)
    ]  # fmt: skip


def _found(hit: Hit | None) -> dict[str, Any]:
    if hit is None:
        return {"cause_class": Cause.NONE, "retry": "no_retry", "actor": None}
    cause = KEYWORDS[hit[0]][1]
    rank = _RANK.search(hit[1])
    number = next((int(each) for each in rank.groups() if each), None) if rank else None
    return {
        "cause_class": str(cause),
        "first_rank": number,
        "actor": ACTORS[usual_owner(cause)],
        "retry": str(usual_retry(cause)),
    }


def last_hit(logs: Mapping[str, bytes]) -> dict[str, Any]:
    """The last line with a keyword."""
    return _found(next(reversed(_hits(logs)), None))


def first_hit(logs: Mapping[str, bytes]) -> dict[str, Any]:
    """The first line with a keyword."""
    return _found(next(iter(_hits(logs)), None))


def most_serious(logs: Mapping[str, bytes]) -> dict[str, Any]:
    """The first line with the keyword that stands highest in the list."""
    return _found(min(_hits(logs), key=lambda hit: hit[0], default=None))


BASELINES: dict[str, Callable[[Mapping[str, bytes]], dict[str, Any]]] = {
    "keywords, last hit": last_hit,
    "keywords, first hit": first_hit,
    "keywords, by priority": most_serious,
}
