"""Where the seconds of a recovery went, read from the facts: each phase ends where the next begins.

The phases add up to the whole, from the fault to the first new step. What no fact tells is None, never guessed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headway.domain.checkpoint import LossBill
from headway.domain.events import (
    AgentLost,
    AttemptEnded,
    AttemptPlaced,
    AttemptStarted,
    Fact,
    LaunchFailed,
    RankExited,
    Restored,
)
from headway.domain.recovery_events import RecoveryDecided
from headway.domain.stall_events import Stalled

Mark = tuple[str, datetime | None]

SEEN = (RankExited, AgentLost, Stalled, LaunchFailed)
READ = frozenset(kind.kind for kind in (*SEEN, AttemptEnded, RecoveryDecided, AttemptPlaced, AttemptStarted, Restored))
"""The kinds of facts that `split` reads; each is recorded a few times for an attempt and a rank."""


@dataclass(frozen=True, slots=True)
class Phases:
    """Seconds of one recovery, in the order in which they pass. None: not known, or not reached yet.

    `detect`: until Headway knew of the fault. `stop`: until every process of the attempt was gone. `decide`: until the
    verdict was in and the job was to go on. `retry`: attempts between that broke before their first step. `schedule`:
    until it had devices; none where the job went on in place. `start`: until its slowest rank began to load, or its
    first ran. `load`: that rank's. `first_step`: the step itself.
    """

    detect: float | None = None
    stop: float | None = None
    decide: float | None = None
    retry: float | None = None
    schedule: float | None = None
    start: float | None = None
    load: float | None = None
    first_step: float | None = None


def split(bill: LossBill, facts: Sequence[Fact]) -> Phases:
    """The phases of one recovery, by the facts of its job, in order.

    Agents and the server have their own clocks: no phase is shorter than nothing, and none runs past the first step.
    """
    of_failed = [fact for fact in facts if getattr(fact, "attempt", None) == bill.failed]
    resumed = [fact for fact in facts if bill.resumed and getattr(fact, "attempt", None) == bill.resumed]
    decided, again = _decisions(bill, facts)
    in_place = again is not None and again.in_place
    began, loaded = _load(bill, resumed)
    marks = [
        ("detect", _seen(of_failed)),
        ("stop", _first(of_failed, AttemptEnded)),
        ("decide", decided.at if decided else None),
        ("retry", again.at if again and again is not decided else None),
        ("schedule", None if in_place else _first(resumed, AttemptPlaced)),
        ("start", began),
        ("load", loaded),
        ("first_step", bill.first_step_at),
    ]
    return Phases(**_seconds(bill, marks))


def _seconds(bill: LossBill, marks: Iterable[Mark]) -> dict[str, float]:
    seconds: dict[str, float] = {}
    before = bill.fault_at
    for name, at in marks:
        if at is None:
            continue
        ended = max(before, at if bill.first_step_at is None else min(at, bill.first_step_at))
        seconds[name] = (ended - before).total_seconds()
        before = ended
    return seconds


def _seen(of_failed: Iterable[Fact]) -> datetime | None:
    """When the fault was known: a bad exit, a lost agent, a stall, or a launch that failed, whichever came first."""
    seen = [fact.at for fact in of_failed if isinstance(fact, SEEN) and not _is_harmless(fact)]
    return min(seen, default=None)


def _is_harmless(fact: Fact) -> bool:
    return isinstance(fact, RankExited) and (fact.code == 0 or fact.stopped_by_us)


def _first(facts: Iterable[Fact], kind: type[Fact]) -> datetime | None:
    return next((fact.at for fact in facts if isinstance(fact, kind)), None)


def _decisions(bill: LossBill, facts: Iterable[Fact]) -> tuple[RecoveryDecided | None, RecoveryDecided | None]:
    """That of the failed attempt, and the last before the resumed one was placed: one and the same, unless others broke
    between."""
    first = last = None
    for fact in facts:
        if isinstance(fact, AttemptPlaced) and fact.attempt == bill.resumed:
            return first, last
        if isinstance(fact, RecoveryDecided) and (first or fact.attempt == bill.failed):
            first, last = first or fact, fact
    return first, None


def _load(bill: LossBill, resumed: Sequence[Fact]) -> tuple[datetime | None, datetime | None]:
    """When the rank that was ready last began to load, and when it had; without one, when the first rank ran."""
    until = bill.first_step_at
    loads = [fact for fact in resumed if isinstance(fact, Restored) and (until is None or fact.at <= until)]
    if not loads:
        return _first(resumed, AttemptStarted), None
    last = max(loads, key=lambda fact: fact.at)
    return last.at - timedelta(seconds=last.seconds), last.at
