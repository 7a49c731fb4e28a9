"""What the machines of an attempt said: an event of theirs shortly before the first end goes before it. Never names a
machine that had no rank of the attempt.
"""

from collections.abc import Sequence
from datetime import timedelta

from headway.diagnosis.cause import Cause
from headway.diagnosis.evidence import Evidence, MachineWord
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.signs.sign import EVENT, Kind
from headway.diagnosis.witness.own import Own
from headway.diagnosis.witness.words import Words

BEFORE, AFTER = timedelta(seconds=120), timedelta(seconds=10)
"""A machine's event so long before the first end, or so shortly after it, may be why."""
_OF_PROGRAMS = frozenset({Cause.HOST_OOM, Cause.CUDA_ILLEGAL_ACCESS, Cause.NATIVE_CRASH})
"""What kernels tell of programs: whose it was, its own end tells better."""


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


def rank_on(word: MachineWord, owns: Sequence[Own], evidence: Evidence) -> int | None:
    """Whose rank a machine's event hit: whose card it was, else the only rank there, else the only one that failed."""
    here = [rank for rank, node in evidence.nodes.items() if node == word.node]
    failed = [own.rank for own in owns if own.ending.exit.node == word.node and not own.is_follower]
    if word.rank is not None:
        return word.rank
    return next((ranks[0] for ranks in (here, failed) if len(ranks) == 1), None)
