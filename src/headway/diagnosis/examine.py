"""`examine(evidence)`: what stopped an attempt, where first, and whose move it is.

Every rank that ended badly makes one claim; of the claims that are no followers the earliest is the first fault. Where
nothing singles out a rank, none is named. Reads no clock and no file: the same evidence gives the same verdict.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from headway.diagnosis import wording
from headway.diagnosis.evidence import Evidence
from headway.diagnosis.lines import NOWHERE
from headway.diagnosis.rules import code, communication, memory, signals
from headway.diagnosis.rules.claim import Claim, Rule
from headway.diagnosis.seen import Seen, bad_endings
from headway.diagnosis.verdict import EvidenceLine, Fault, Owner, Verdict
from headway.domain.attempt import BY_ENGINE, PREEMPTED

RULES: tuple[Rule, ...] = (
    memory.device,
    memory.host,
    communication.follower,
    signals.killed,
    signals.crashed,
    code.exception,
    code.refused,
    code.unexplained,
)
"""The first rule that claims a rank has it: the more particular before the more general."""

ADVICE: dict[Fault, tuple[Owner, bool]] = {
    Fault.NONE: (Owner.NOBODY, False),
    Fault.CODE_ERROR: (Owner.RESEARCHER, False),
    Fault.DEVICE_OUT_OF_MEMORY: (Owner.RESEARCHER, False),
    Fault.HOST_OUT_OF_MEMORY: (Owner.RESEARCHER, False),
    Fault.KILLED: (Owner.OPERATOR, True),
    Fault.CRASHED: (Owner.RESEARCHER, True),
    Fault.AGENT_LOST: (Owner.OPERATOR, True),
    Fault.NODE_DOWN: (Owner.OPERATOR, True),
    Fault.LAUNCH_FAILED: (Owner.OPERATOR, True),
    Fault.STALLED: (Owner.OPERATOR, True),
    Fault.STOPPED: (Owner.NOBODY, False),
    Fault.PEER_CLOSED: (Owner.OPERATOR, True),
    Fault.UNKNOWN: (Owner.RESEARCHER, True),
}
"""Whose move each fault is, and whether the same attempt again is worth its cards.

Memory that ran out runs out again with the same request. An unknown end is tried again: `advice` bounds how often.
"""

CONSEQUENCES = frozenset({"gang", "drill", "engine"})
"""Stops that Headway ordered because something had already happened: never the cause."""

CLOSE = timedelta(seconds=2)
"""Two nodes' clocks may disagree by as much: closer than this, what came first is a weak claim."""

_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")
_LEFT_EARLY = "a rank ended with 0 while the others still worked"
LONGEST_TEXT = 300
MOST_LINES = 8


def examine(evidence: Evidence) -> Verdict:
    """What stopped the attempt, where first, whose move it is, and whether to try again."""
    if evidence.launch_error:
        verdict = _plain(evidence, Fault.LAUNCH_FAILED, 0.9, detail=evidence.launch_error)
        theirs = wording.is_command_missing(evidence.launch_error)
        return replace(verdict, owner=Owner.RESEARCHER) if theirs else verdict
    if _is_clean(evidence):
        return _plain(evidence, Fault.NONE, 1.0)
    if evidence.stop_reason and evidence.stop_reason not in CONSEQUENCES:
        retry = evidence.stop_reason == PREEMPTED or evidence.stop_reason in BY_ENGINE
        return _plain(evidence, Fault.STOPPED, 0.99, detail=evidence.stop_reason, retry=retry)
    claims = [_claim(seen) for seen in bad_endings(evidence)]
    firsts = sorted((claim for claim in claims if not claim.follower), key=_order)
    lost_at = min(evidence.lost_agents.values(), default=None)
    if lost_at and not any(claim.at <= lost_at and claim.fault is not Fault.UNKNOWN for claim in firsts):
        return _agent_lost(evidence, claims)
    if firsts:
        return _first_fault(evidence, firsts, claims)
    return _only_followers(evidence, claims)


def _is_clean(evidence: Evidence) -> bool:
    nodes_heard = {each.node for each in evidence.exits}
    ended = bool(evidence.exits) and all(each.is_clean and not each.stopped_by_us for each in evidence.exits)
    return ended and not evidence.lost_agents and nodes_heard >= set(evidence.nodes.values())


def _claim(seen: Seen) -> Claim:
    return next(claim for rule in RULES if (claim := rule(seen)))


def _order(claim: Claim) -> tuple[datetime, bool, int]:
    """By time; of two at once the one that is known."""
    return claim.at, claim.fault is Fault.UNKNOWN, claim.rank


def _plain(
    evidence: Evidence, fault: Fault, confidence: float, *, detail: str | None = None, retry: bool | None = None
) -> Verdict:
    owner, usual = ADVICE[fault]
    return Verdict(evidence.attempt, fault, owner, usual if retry is None else retry, confidence, detail=detail)


def _agent_lost(evidence: Evidence, claims: Sequence[Claim]) -> Verdict:
    """The node whose agent went first; one that is known to have failed, before all others."""
    failed = evidence.failed_nodes
    node, at = min(evidence.lost_agents.items(), key=lambda lost: (lost[0] not in failed, lost[1], lost[0]))
    fault = Fault.NODE_DOWN if node in failed else Fault.AGENT_LOST
    owner, retry = ADVICE[fault]
    return Verdict(
        attempt=evidence.attempt,
        fault=fault,
        owner=owner,
        retry=retry,
        confidence=0.95 if node in failed else 0.85,
        node=node,
        at=at,
        followers=tuple(sorted(claim.rank for claim in claims)),
        lines=_quotes([claim for claim in claims if claim.follower]),
    )


def _first_fault(evidence: Evidence, firsts: Sequence[Claim], claims: Sequence[Claim]) -> Verdict:
    first = firsts[0]
    owner, retry = ADVICE[first.fault]
    everywhere = _is_everywhere(evidence, firsts)
    others = [claim for claim in claims if claim.rank != first.rank]
    return Verdict(
        attempt=evidence.attempt,
        fault=first.fault,
        owner=Owner.NOBODY if first.seen.drill else owner,
        retry=retry,
        confidence=first.confidence * (1.0 if everywhere or not _is_close_call(firsts) else 0.7),
        rank=None if everywhere else first.rank,
        node=None if everywhere else first.seen.exit.node,
        at=first.at,
        signal_name=first.seen.exit.signal_name,
        code=first.seen.exit.code,
        location=first.location,
        detail=_cut(first.detail),
        followers=() if everywhere else tuple(claim.rank for claim in others),
        lines=_quotes([first, *others]),
        drill=first.seen.drill,
    )


def _is_everywhere(evidence: Evidence, firsts: Sequence[Claim]) -> bool:
    """Whether every rank of a gang failed in the same place with the same exception: no rank or node is suspect."""
    same = {(claim.fault, claim.location, _NUMBERS.sub("#", claim.detail or "")) for claim in firsts}
    everyone = 1 < len(evidence.nodes) == len(firsts)
    return everyone and len(same) == 1 and firsts[0].fault in (Fault.CODE_ERROR, Fault.DEVICE_OUT_OF_MEMORY)


def _is_close_call(firsts: Sequence[Claim]) -> bool:
    nodes = {claim.seen.exit.node for claim in firsts if claim.at - firsts[0].at < CLOSE}
    return len(nodes) > 1


def _only_followers(evidence: Evidence, claims: Sequence[Claim]) -> Verdict:
    """Nobody failed by itself: a rank that left early with 0, or one that was never heard, is the suspect."""
    if not claims:
        return replace(_plain(evidence, Fault.UNKNOWN, 0.1), owner=Owner.OPERATOR)
    at = min(claim.at for claim in claims)
    heard = {each.rank for each in evidence.exits}
    early = sorted(each.rank for each in evidence.exits if each.is_clean and each.at <= at)
    silent = sorted(set(evidence.nodes) - heard - {claim.rank for claim in claims})
    suspects = early or silent
    suspect = suspects[0] if len(suspects) == 1 else None
    verdict = Verdict(
        attempt=evidence.attempt,
        fault=Fault.PEER_CLOSED,
        owner=Owner.OPERATOR,
        retry=True,
        confidence=0.3 if suspect is None else 0.5,
        rank=suspect,
        node=None if suspect is None else evidence.nodes.get(suspect),
        at=at,
        followers=tuple(sorted(claim.rank for claim in claims)),
        lines=_quotes(claims),
    )
    return replace(verdict, owner=Owner.RESEARCHER, retry=False, detail=_LEFT_EARLY) if early else verdict


def _quotes(claims: Sequence[Claim]) -> tuple[EvidenceLine, ...]:
    quoted = [
        EvidenceLine(
            rank=claim.rank,
            offset=line.offset,
            text=line.text[:LONGEST_TEXT],
            stream=None if claim.seen.stream == claim.rank else claim.seen.stream,
        )
        for claim in claims
        for line in claim.lines
        if line.offset != NOWHERE
    ]
    return tuple(quoted[:MOST_LINES])


def _cut(text: str | None) -> str | None:
    return text[:LONGEST_TEXT] if text else None
