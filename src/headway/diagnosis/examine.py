"""`examine(evidence)`: what stopped an attempt, where first, and whose move it is.

Every rank that ended badly comes to one end of its own; of those that are no followers the earliest is the first fault.
What was seen first-hand rules over words; the words are read and judged as those of any folder of logs. Where nothing
singles out a rank, none is named. Reads no clock and no file: the same evidence gives the same verdict.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from headway.diagnosis.advice import SURE_ENOUGH
from headway.diagnosis.cause import Cause, Retry, usual_owner, usual_retry
from headway.diagnosis.evidence import Evidence, MachineWord
from headway.diagnosis.finding.advise import Situation, advise
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.decide import tier
from headway.diagnosis.finding.locate import FEWEST_ALIKE
from headway.diagnosis.finding.stalled import Stall, stall_of
from headway.diagnosis.hang.verdict import of_stall
from headway.diagnosis.signs.table import Table
from headway.diagnosis.verdict import EvidenceLine, Fault, Owner, Verdict
from headway.diagnosis.witness import engine, machines
from headway.diagnosis.witness.endings import bad_endings
from headway.diagnosis.witness.own import Own, Said, own
from headway.diagnosis.witness.places import with_place
from headway.diagnosis.witness.words import Words, words_of
from headway.domain.attempt import BY_ENGINE, PREEMPTED, STALLED
from headway.domain.errors import say

ADVICE: dict[Fault, tuple[Owner, Retry]] = {
    Fault.NONE: (Owner.NOBODY, Retry.NO_RETRY),
    Fault.CODE_ERROR: (Owner.RESEARCHER, Retry.NO_RETRY),
    Fault.DEVICE_OUT_OF_MEMORY: (Owner.RESEARCHER, Retry.NO_RETRY),
    Fault.HOST_OUT_OF_MEMORY: (Owner.RESEARCHER, Retry.NO_RETRY),
    Fault.KILLED: (Owner.OPERATOR, Retry.RESTART_SAME_NODES),
    Fault.CRASHED: (Owner.RESEARCHER, Retry.RESTART_SAME_NODES),
    Fault.MACHINE_FAULT: (Owner.OPERATOR, Retry.RESTART_AFTER_OPS_FIX),
    Fault.AGENT_LOST: (Owner.OPERATOR, Retry.RESTART_SAME_NODES),
    Fault.NODE_DOWN: (Owner.OPERATOR, Retry.RESTART_EXCLUDE_NODE),
    Fault.LAUNCH_FAILED: (Owner.OPERATOR, Retry.RESTART_SAME_NODES),
    Fault.STALLED: (Owner.OPERATOR, Retry.RESTART_SAME_NODES),
    Fault.STOPPED: (Owner.NOBODY, Retry.NO_RETRY),
    Fault.PEER_CLOSED: (Owner.OPERATOR, Retry.RESTART_SAME_NODES),
    Fault.UNKNOWN: (Owner.RESEARCHER, Retry.RESTART_SAME_NODES),
}
"""Whose move each end is where no cause tells better, and what to do with the job.

Memory that ran out runs out again with the same request. An unknown end is tried again: `advice` bounds how often.
"""

CONSEQUENCES = frozenset({"gang", "drill", "engine"})
"""Stops that Headway ordered because something had already happened: never the cause."""

CLOSE = timedelta(seconds=2)
"""Two nodes' clocks may disagree by as much: closer than this, the stronger evidence comes first."""

_COMMAND_MISSING = ("No such file or directory", "Exec format error", "command not found")
_BY_WORDS = frozenset({Fault.CODE_ERROR, Fault.MACHINE_FAULT})
_EVERYWHERE = frozenset({Fault.CODE_ERROR, Fault.DEVICE_OUT_OF_MEMORY, Fault.MACHINE_FAULT})
_UNSPOKEN = -1
"""The strength of what was seen without a word: it keeps its place in time."""
LONGEST_TEXT = 300
MOST_LINES = 8


def examine(evidence: Evidence) -> Verdict:
    """What stopped the attempt, where first, whose move it is, and whether to try again."""
    if evidence.launch_error:
        verdict = _plain(evidence, Fault.LAUNCH_FAILED, 0.9, detail=evidence.launch_error)
        if refused := engine.refusal(evidence.launch_error):
            cause, owner, advice = refused
            return replace(verdict, cause=cause, owner=owner, advice=advice, retry=is_retry(advice))
        theirs = any(word in evidence.launch_error for word in _COMMAND_MISSING)
        return replace(verdict, owner=Owner.RESEARCHER) if theirs else verdict
    if evidence.stop_reason == STALLED:
        return of_stall(evidence)
    if _is_clean(evidence):
        return _plain(evidence, Fault.NONE, 1.0)
    if evidence.stop_reason and evidence.stop_reason not in CONSEQUENCES:
        again = evidence.stop_reason == PREEMPTED or evidence.stop_reason in BY_ENGINE
        advice = Retry.RESTART_SAME_NODES if again else Retry.NO_RETRY
        verdict = _plain(evidence, Fault.STOPPED, 0.99, detail=evidence.stop_reason, advice=advice)
        return replace(verdict, cause=engine.cause_of_stop(evidence))
    words = words_of(evidence, Table())
    owns = _owns(evidence, words)
    firsts = [each for each in owns if not each.is_follower]
    lost_at = min(evidence.lost_agents.values(), default=None)
    if lost_at and not any(each.at <= lost_at and each.fault is not Fault.UNKNOWN for each in firsts):
        return _agent_lost(evidence, words, owns)
    if firsts:
        return _first_fault(evidence, words, _in_order(firsts), owns)
    return _only_followers(evidence, words, owns)


def _is_clean(evidence: Evidence) -> bool:
    nodes_heard = {each.node for each in evidence.exits}
    ended = bool(evidence.exits) and all(each.is_clean and not each.stopped_by_us for each in evidence.exits)
    return ended and not evidence.lost_agents and nodes_heard >= set(evidence.nodes.values())


def _plain(
    evidence: Evidence, fault: Fault, confidence: float, *, detail: str | None = None, advice: Retry | None = None
) -> Verdict:
    """What follows from an end that needs no reading."""
    owner, usual = ADVICE[fault]
    advised = advice or usual
    return Verdict(evidence.attempt, fault, owner, is_retry(advised), confidence, detail=detail, advice=advised)


def is_retry(advice: Retry) -> bool:
    """Whether the same attempt again is worth its cards, at once or later."""
    return advice is not Retry.NO_RETRY


def _owns(evidence: Evidence, words: Words) -> list[Own]:
    """What the end of every rank comes to that ended badly."""
    claims = words.of([*words.case.faults, *words.case.follows])
    endings = bad_endings(evidence, words)
    lines, alone = words.lines(), len(evidence.nodes) <= 1
    said = {ending.rank: Said(claims.get(ending.rank, ()), lines.get(ending.rank, ()), alone) for ending in endings}
    return [engine.with_word(with_place(own(ending, said[ending.rank]), evidence), evidence) for ending in endings]


def _in_order(firsts: Sequence[Own]) -> list[Own]:
    """The first fault and then the others, by time; of two nodes' at once, the one with the stronger words."""
    by_time = sorted(firsts, key=lambda each: (each.at, each.fault is Fault.UNKNOWN, each.rank))
    first = by_time[0]
    for other in by_time[1:]:
        is_close = other.at - first.at < CLOSE and other.ending.exit.node != first.ending.exit.node
        if is_close and _strength(other) > _strength(first) > _UNSPOKEN:
            first = other
    return [first, *(each for each in by_time if each is not first)]


def _strength(own_: Own) -> int:
    """How strongly its words tell it; an end that nothing explains is the weakest."""
    if own_.claim is not None:
        return tier(own_.claim)
    return 0 if own_.fault is Fault.UNKNOWN else _UNSPOKEN


def _agent_lost(evidence: Evidence, words: Words, owns: Sequence[Own]) -> Verdict:
    """The node whose agent went first; one that is known to have failed, before all others."""
    failed = evidence.failed_nodes
    node, at = min(evidence.lost_agents.items(), key=lambda lost: (lost[0] not in failed, lost[1], lost[0]))
    is_down = node in failed
    verdict = _plain(evidence, Fault.NODE_DOWN if is_down else Fault.AGENT_LOST, 0.95 if is_down else 0.85)
    cause = Cause.NODE_DOWN if is_down else None
    if not is_down and engine.ran_out_of_memory(evidence, node):
        verdict, cause = _plain(evidence, Fault.HOST_OUT_OF_MEMORY, 0.85), Cause.HOST_OOM
    return replace(
        verdict,
        node=node,
        at=at,
        cause=cause,
        followers=tuple(sorted(each.rank for each in owns)),
        lines=_quotes(words, [each for each in owns if each.is_follower]),
    )


def _first_fault(evidence: Evidence, words: Words, firsts: Sequence[Own], owns: Sequence[Own]) -> Verdict:
    first = firsts[0]
    if not first.ending.drill and (event := machines.event_before(first, evidence, words)):
        return _machine_first(evidence, words, event, owns)
    everywhere = _is_everywhere(evidence, firsts)
    node = None if everywhere else first.ending.exit.node
    others = [each for each in owns if each.rank != first.rank]
    owner, advice = _advise(evidence, words, first, node)
    return Verdict(
        attempt=evidence.attempt,
        fault=_by_owner(first.fault, owner),
        owner=Owner.NOBODY if first.ending.drill else owner,
        retry=is_retry(advice),
        confidence=first.confidence * (1.0 if everywhere or not _is_close_call(firsts) else 0.7),
        rank=None if everywhere else first.rank,
        node=node,
        at=first.at,
        signal_name=first.ending.exit.signal_name,
        code=first.ending.exit.code,
        location=first.location,
        detail=_cut(first.detail),
        followers=() if everywhere else tuple(each.rank for each in others),
        lines=_quotes(words, [first, *others]),
        drill=first.ending.drill,
        cause=first.cause,
        advice=advice,
    )


def _machine_first(
    evidence: Evidence,
    words: Words,
    event: tuple[Claim, MachineWord],
    owns: Sequence[Own],
) -> Verdict:
    """A machine's own event goes before what its ranks made of it."""
    claim, word = event
    rank = machines.rank_on(word, owns, evidence)
    owner, advice = advise(_situation(evidence, words, claim, word.node))
    return Verdict(
        attempt=evidence.attempt,
        fault=Fault.MACHINE_FAULT,
        owner=owner,
        retry=is_retry(advice),
        confidence=0.95,
        rank=rank,
        node=word.node,
        at=word.at,
        detail=_cut(word.text),
        followers=tuple(each.rank for each in owns if each.rank != rank),
        lines=_quotes(words, owns),
        cause=claim.cause,
        advice=advice,
    )


def _by_owner(fault: Fault, owner: Owner) -> Fault:
    """What was only told by words was the program's or the machine's as its owner is."""
    if fault not in _BY_WORDS:
        return fault
    return Fault.CODE_ERROR if owner is Owner.RESEARCHER else Fault.MACHINE_FAULT


def _advise(evidence: Evidence, words: Words, first: Own, node: str | None) -> tuple[Owner, Retry]:
    """By the words where they tell the cause, else by the cause, else by how it ended."""
    if first.cause is None:
        return ADVICE[first.fault]
    if first.claim is None or first.claim.cause is not first.cause:
        return usual_owner(first.cause), usual_retry(first.cause)
    return advise(_situation(evidence, words, first.claim, node))


def _situation(evidence: Evidence, words: Words, claim: Claim, node: str | None) -> Situation:
    nodes = frozenset(evidence.nodes.values())
    return Situation(claim, node, nodes, words.reading.entries, words.case.course, words.case.table)


def _is_everywhere(evidence: Evidence, firsts: Sequence[Own]) -> bool:
    """Whether the ranks of a gang failed in the same place with the same words: no rank or node is suspect.

    Three quarters of them speak for all: some were stopped before they said it.
    """
    first = firsts[0]
    if first.fault not in _EVERYWHERE or first.claim is None:
        return False
    alike = [
        each
        for each in firsts
        if each.claim is not None
        and (each.cause, each.location, each.claim.words) == (first.cause, first.location, first.claim.words)
    ]
    size = len(evidence.nodes)
    return 1 < size == len(alike) or (len(alike) >= FEWEST_ALIKE and 4 * len(alike) >= 3 * size)


def _is_close_call(firsts: Sequence[Own]) -> bool:
    nodes = {each.ending.exit.node for each in firsts if abs(each.at - firsts[0].at) < CLOSE}
    return len(nodes) > 1


def _only_followers(evidence: Evidence, words: Words, owns: Sequence[Own]) -> Verdict:
    """Nobody failed by itself: a rank that left early with 0, or that was never heard, or that the others wait for."""
    if not owns:
        return replace(_plain(evidence, Fault.UNKNOWN, 0.1), owner=Owner.OPERATOR)
    stall = stall_of(words.reading, words.case.clues)
    at = min(each.at for each in owns)
    heard = {each.rank for each in evidence.exits}
    early = sorted(each.rank for each in evidence.exits if each.is_clean and each.at <= at)
    silent = sorted(set(evidence.nodes) - heard - {each.rank for each in owns})
    suspects = early or silent or _waited_for(evidence, stall)
    suspect = suspects[0] if len(suspects) == 1 else None
    verdict = replace(
        _plain(evidence, Fault.PEER_CLOSED, 0.3 if suspect is None else 0.5),
        rank=suspect,
        node=None if suspect is None else evidence.nodes.get(suspect),
        at=at,
        followers=tuple(sorted({each.rank for each in owns} - {suspect})),
        lines=_quotes(words, owns),
    )
    if early:
        return replace(verdict, owner=Owner.RESEARCHER, retry=False, advice=Retry.NO_RETRY, detail=say("left-early"))
    return _of_class(verdict, stall)


def _waited_for(evidence: Evidence, stall: Stall | None) -> list[int]:
    """The rank that the collectives of the others show to be behind."""
    return [stall.rank] if stall is not None and stall.rank is not None and stall.rank in evidence.nodes else []


def _of_class(verdict: Verdict, stall: Stall | None) -> Verdict:
    """What the waiting itself tells: collectives that differ and operations that take long are the program's."""
    if stall is None:
        return verdict
    told = replace(verdict, cause=stall.cause, confidence=max(verdict.confidence, stall.confidence))
    owner, advice = usual_owner(stall.cause), usual_retry(stall.cause)
    if owner is not Owner.RESEARCHER or stall.confidence < SURE_ENOUGH:
        return told
    return replace(told, owner=owner, advice=advice, retry=is_retry(advice))


def _quotes(words: Words, owns: Sequence[Own]) -> tuple[EvidenceLine, ...]:
    """The lines that ends rest on, of those that stand in a stream."""
    quoted = [
        EvidenceLine(each.rank, line.offset, line.text[:LONGEST_TEXT], None if stream == each.rank else stream)
        for each in owns
        for line in each.lines
        if (stream := words.streams[line.file]) is not None
    ]
    return tuple(quoted[:MOST_LINES])


def _cut(text: str | None) -> str | None:
    return text[:LONGEST_TEXT] if text else None
