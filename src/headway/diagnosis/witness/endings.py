"""How each rank ended that ended badly, seen first-hand; a launcher's own end is given back to the ranks it ran.

A launcher is right about its node, never about the job. Nothing is concluded yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from headway.diagnosis.evidence import Evidence
from headway.diagnosis.finding.exits import Exit
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.signs.sign import Kind
from headway.diagnosis.witness.words import Words
from headway.domain.attempt import RankExit

SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 15: "SIGTERM", 31: "SIGSYS",
}  # fmt: skip
"""Linux numbers."""
_ZONE_STEP = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Ending:
    """One rank's end. `line`: where a launcher told of it. `drill`: Headway killed it on purpose."""

    exit: RankExit
    line: Entry | None = None
    drill: bool = False

    @property
    def rank(self) -> int:
        return self.exit.rank

    @property
    def at(self) -> datetime:
        """When it failed: by its own error file where there is one, else by its exit."""
        return self.exit.error_at or self.exit.at


def bad_endings(evidence: Evidence, words: Words) -> list[Ending]:
    """The end of each rank that did not end with 0, in order of rank."""
    found = {exit_.rank: Ending(_as_signal(exit_)) for exit_ in evidence.exits}
    for file, summary in words.summaries.items():
        launcher = found.get(stream) if (stream := words.streams[file]) is not None else None
        if launcher is not None and stream is not None:
            del found[stream]
            found |= {
                end.rank: _worker(evidence, launcher.exit, end) for end in reversed(summary) if end.rank is not None
            }
    found |= {ending.rank: ending for ending in _overheard(evidence, words, found)}
    bad = [ending for _, ending in sorted(found.items()) if not ending.exit.is_clean]
    return [replace(ending, drill=evidence.drill_rank == ending.rank) for ending in bad]


def _overheard(evidence: Evidence, words: Words, found: dict[int, Ending]) -> list[Ending]:
    """Ranks whose end nobody saw but whose exception stands in the stream of one that ended badly."""
    heard: dict[int, Ending] = {}
    claims: Sequence[tuple[int | None, int | None]] = [
        (words.speaker(claim.entry), words.streams[claim.entry.file])
        for claim in (*words.case.faults, *words.case.follows)
        if claim.in_trace and claim.kind is not Kind.HINT
    ]
    for rank, stream in claims:
        carrier = found.get(stream) if stream is not None else None
        if rank is not None and rank not in found and carrier and not carrier.exit.is_clean:
            node = evidence.nodes.get(rank, carrier.exit.node)
            heard[rank] = Ending(RankExit(rank, node, carrier.exit.at))
    return list(heard.values())


def _worker(evidence: Evidence, launcher: RankExit, end: Exit) -> Ending:
    """A worker's end from its launcher's summary; the error file that the launcher copied is the first failure's."""
    assert end.rank is not None
    worker = replace(
        launcher,
        rank=end.rank,
        node=evidence.nodes.get(end.rank, launcher.node),
        at=_in_utc(end.at, launcher.at),
        code=end.code,
        signal=None,
        signal_name=None,
        stopped_by_us=False,
    )
    if not end.is_root:
        worker = replace(worker, error_message=None, error_callstack=None, error_at=None)
    return Ending(_as_signal(worker), end.entry)


def _in_utc(told: float | None, near: datetime) -> datetime:
    """A launcher's local time in UTC: its unprinted zone is the one that puts it nearest to its own end."""
    if told is None:
        return near
    naive = datetime.fromtimestamp(told, UTC)
    return naive + round((near - naive) / _ZONE_STEP) * _ZONE_STEP


def _as_signal(exit_: RankExit) -> RankExit:
    """An exit code that stands for a signal (-9 from torchrun, 137 from a shell) written as one."""
    code = exit_.code or 0
    signal = exit_.signal or (-code if code < 0 else code - 128)
    if signal not in SIGNALS:
        return exit_
    return replace(exit_, code=None, signal=signal, signal_name=SIGNALS[signal])
