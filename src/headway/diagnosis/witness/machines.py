"""What the machines of an attempt said or showed: an event of theirs shortly before the first end goes before it; a
file system that was full explains a write that failed. Never names a machine that had no rank of the attempt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from headway.diagnosis.cause import Cause
from headway.diagnosis.evidence import Evidence, MachineWord
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.signs.sign import EVENT, Kind
from headway.diagnosis.verdict import Fault
from headway.diagnosis.witness.own import Own
from headway.diagnosis.witness.words import Words

BEFORE, AFTER = timedelta(seconds=120), timedelta(seconds=10)
"""A machine's event so long before the first end, or so shortly after it, may be why."""
_OF_PROGRAMS = frozenset({Cause.HOST_OOM, Cause.CUDA_ILLEGAL_ACCESS, Cause.NATIVE_CRASH})
"""What kernels tell of programs: whose it was, its own end tells better."""
_MAY_BE_FULL = frozenset({Cause.USER_CODE_EXC, Cause.STORAGE_IO, Cause.CKPT_CORRUPT, Cause.DISK_FULL})
_WRITE_FAILED = re.compile(
    r"No space left|ENOSPC|Errno 28|[Dd]isk quota exceeded|inline_container|PytorchStreamWriter|unexpected pos \d"
    r"|file write failed|iostream error|[Ii]nput/output error|write error"
)
_FULL_SHARE = 0.005


def event_before(first: Own, evidence: Evidence, words: Words) -> tuple[Claim, MachineWord] | None:
    """The earliest event of a machine near the first end that can have caused it, and its word."""
    nodes = frozenset(evidence.nodes.values())
    near = [
        word for word in evidence.machines if first.at - BEFORE <= word.at <= first.at + AFTER and word.node in nodes
    ]
    events = [
        claim
        for claim in words.case.faults
        if words.reading.names[claim.entry.file].is_system
        and claim.kind is Kind.FAULT
        and claim.weight >= EVENT - 5
        and claim.cause not in _OF_PROGRAMS
    ]
    for word in sorted(near, key=lambda each: each.at):
        for claim in events:
            if claim.node == word.node and claim.entry.text and claim.entry.text in word.text:
                return claim, word
    return None


def with_disks(own: Own, evidence: Evidence) -> Own:
    """The same, as a full disk where a write failed on a file system that was full."""
    full = _full_disk(evidence, own.ending.exit.node)
    if full is None or own.cause not in _MAY_BE_FULL or not _WRITE_FAILED.search(own.detail or ""):
        return own
    claim = replace(own.claim, cause=Cause.DISK_FULL, owner=None, retry=None) if own.claim else None
    detail = f"{own.detail}; {full} is full"
    return replace(own, fault=Fault.MACHINE_FAULT, cause=Cause.DISK_FULL, claim=claim, detail=detail, confidence=0.95)


def _full_disk(evidence: Evidence, node: str | None) -> str | None:
    """A file system of the node that was full when a rank broke."""
    disks = [disk for scene in evidence.scenes if scene.node == node for disk in scene.disks]
    return next((str(disk.get("mount") or disk.get("path")) for disk in disks if _is_full(disk)), None)


def _is_full(disk: Mapping[str, Any]) -> bool:
    total, free, files = (disk.get(name) for name in ("total_bytes", "free_bytes", "free_files"))
    if disk.get("read_only") or not isinstance(total, int) or not isinstance(free, int) or not total:
        return False
    return free <= _FULL_SHARE * total or (files == 0 and disk.get("kind") != "overlay")


def rank_on(word: MachineWord, owns: Sequence[Own], evidence: Evidence) -> int | None:
    """Whose rank a machine's event hit: whose card it was, else the only rank there, else the only one that failed."""
    here = [rank for rank, node in evidence.nodes.items() if node == word.node]
    failed = [own.rank for own in owns if own.ending.exit.node == word.node and not own.is_follower]
    if word.rank is not None:
        return word.rank
    return next((ranks[0] for ranks in (here, failed) if len(ranks) == 1), None)
