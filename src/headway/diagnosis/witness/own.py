"""What one rank's end comes to: its own fault, or that it only followed another.

What was seen first-hand rules over what was said: a signal that nobody of Headway's sent, the kernel's memory kill, a
file system that was full. Words tell the class where the end itself does not.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from headway.diagnosis.cause import Cause, usual_owner
from headway.diagnosis.finding import decide, traces
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.conclude import CONFIDENCE
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.signs.sign import EVENT, LIKELY, SURE, Kind
from headway.diagnosis.verdict import Fault, Owner
from headway.diagnosis.witness.endings import Ending
from headway.domain.errors import say

_ABORT, _BUS, _KILL, _PIPE, _TERM = 6, 7, 9, 13, 15
_SENT = frozenset({1, 2, 3, _KILL, 10, 12, _TERM})
_OF_CAUSE = {
    Cause.DEVICE_OOM: Fault.DEVICE_OUT_OF_MEMORY,
    Cause.HOST_OOM: Fault.HOST_OUT_OF_MEMORY,
}


@dataclass(frozen=True, slots=True)
class Own:
    """What a rank's end comes to. `claim`: the words it rests on, None where there are none or they do not count."""

    ending: Ending
    fault: Fault
    cause: Cause | None
    confidence: float
    is_follower: bool = False
    claim: Claim | None = None
    detail: str | None = None
    location: str | None = None
    lines: tuple[Entry, ...] = ()

    @property
    def rank(self) -> int:
        return self.ending.rank

    @property
    def at(self) -> datetime:
        return self.ending.at


@dataclass(frozen=True, slots=True)
class Said:
    """A rank's words: its claims that may have ended it, and its last lines. `alone`: the job has no other rank."""

    claims: Sequence[Claim]
    entries: Sequence[Entry]
    alone: bool = False

    @property
    def follows(self) -> list[Claim]:
        return [claim for claim in self.claims if claim.kind is Kind.FOLLOWER]

    @property
    def lead(self) -> Claim | None:
        """Its first fault: one told strongly; a weak one only where it did not follow anybody."""
        faults = [claim for claim in self.claims if claim.kind is Kind.FAULT]
        strong = decide.first_of([claim for claim in faults if decide.tier(claim) > 1])
        return strong or (None if self.follows else decide.first_of(faults))


def own(ending: Ending, said: Said) -> Own:
    """What the end of this rank comes to."""
    exit_, lead = ending.exit, said.lead
    interrupted = lead is not None and lead.entry.text.startswith("KeyboardInterrupt")
    if ending.drill:
        return Own(ending, Fault.KILLED, None, 0.99, detail=say("drill-kill"), lines=tuple(said.entries[-1:]))
    if exit_.signal == _KILL and (kill := _memory_kill(ending, said.claims)):
        return replace(kill, lines=kill.lines or tuple(said.entries[-1:]))
    if exit_.stopped_by_us:
        is_own = lead is not None and not interrupted and (lead.in_trace or lead.weight >= SURE)
        return _by_words(ending, lead) if is_own and lead else _follower(ending, said)
    if exit_.signal in _SENT or interrupted:
        follows = exit_.signal == _TERM and bool(said.follows) and lead is None and not said.alone
        return _follower(ending, said) if follows else _killed(ending, said)
    if exit_.signal is not None and not (exit_.signal in (_ABORT, _PIPE) and _explains(lead, said)):
        return _crashed(ending, said)
    if lead is not None:
        return _by_words(ending, lead)
    return _without_fault(ending, said)


def fault_of(cause: Cause) -> Fault:
    """How a job ended that this cause stopped: by its program, or by what it ran on."""
    usual = Fault.CODE_ERROR if usual_owner(cause) is Owner.RESEARCHER else Fault.MACHINE_FAULT
    return _OF_CAUSE.get(cause, usual)


def _without_fault(ending: Ending, said: Said) -> Own:
    """It told of no fault of its own: it followed; alone, there is nobody to follow; or nothing says why."""
    if said.alone and (traced := next((claim for claim in said.follows if claim.in_trace), None)):
        return _by_words(ending, replace(traced, cause=Cause.USER_CODE_EXC, kind=Kind.FAULT))
    if (said.follows or ending.exit.signal == _PIPE) and not said.alone:
        return _follower(ending, said)
    return Own(ending, Fault.UNKNOWN, None, 0.3, lines=tuple(said.entries[-1:]))


def _explains(lead: Claim | None, said: Said) -> bool:
    """Whether an abort or a broken pipe was said to be something else than a crash of its own."""
    if lead is not None:
        return lead.cause is not Cause.NATIVE_CRASH
    return not said.alone and bool(said.follows or not said.claims)


def _memory_kill(ending: Ending, claims: Collection[Claim]) -> Own | None:
    """The kernel killed it for its memory: seen in its memory group, else told by the kernel in its stream."""
    seen = ending.exit.oom_kill
    told = next((c for c in claims if c.cause is Cause.HOST_OOM and c.weight >= EVENT and not c.in_trace), None)
    if not seen and (told is None or ending.exit.stopped_by_us):
        return None
    detail = told.entry.text if told else say("kernel-kill")
    lines = (told.entry,) if told else ()
    fault = Fault.HOST_OUT_OF_MEMORY
    return Own(ending, fault, Cause.HOST_OOM, 0.95 if seen else 0.8, claim=told, detail=detail, lines=lines)


def _killed(ending: Ending, said: Said) -> Own:
    return Own(ending, Fault.KILLED, None, 0.9, detail=say("no-words"), lines=tuple(said.entries[-1:]))


def _crashed(ending: Ending, said: Said) -> Own:
    """A crash in native code; its words may tell that a card or the shared memory was why."""
    lead = said.lead if said.lead is not None and said.lead.weight >= LIKELY else None
    usual = Cause.SHM_FULL if ending.exit.signal == _BUS else Cause.NATIVE_CRASH
    dump = next((trace for stream in traces.streams(said.entries) for trace in _dumps(stream)), None)
    lines = (lead.entry,) if lead else tuple(said.entries[-1:])
    cause = lead.cause if lead and lead.cause is not Cause.USER_CODE_EXC else usual
    return Own(
        ending,
        Fault.CRASHED,
        cause,
        0.85,
        claim=lead,
        location=dump.own_frame if dump else None,
        detail=lead.entry.text if lead else say("no-dump"),
        lines=lines,
    )


def _dumps(stream: Sequence[Entry]) -> list[traces.Trace]:
    return [trace for group in traces.find(stream) for trace in group if trace.is_reversed]


def _follower(ending: Ending, said: Said) -> Own:
    claim = next(iter(said.follows), None)
    detail = claim.entry.text if claim else None
    lines = (claim.entry,) if claim else ()
    return Own(ending, Fault.PEER_CLOSED, None, 0.6, True, claim, detail, claim.location if claim else None, lines)


def _by_words(ending: Ending, lead: Claim) -> Own:
    """Its last words name the class; an exception that ended the process is as good as seen."""
    exception = lead.lines[1] if lead.in_trace and len(lead.lines) > 1 else lead.entry
    detail = exception.text if exception is lead.entry else f"{exception.text}: {lead.entry.text}"
    confidence = CONFIDENCE[decide.tier(lead)]
    if lead.in_trace:
        confidence = max(confidence, 0.95 if lead.location else 0.75)
    return Own(ending, fault_of(lead.cause), lead.cause, confidence, False, lead, detail, lead.location, (exception,))
