"""Puts together what was seen of each rank that ended badly: its exit, its last lines and the traceback that ended it.

Under torchrun the exits and lines of all ranks of a node come through one process; here they are given back to their
ranks. Nothing is concluded yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headway.diagnosis import torchrun, tracebacks, wording
from headway.diagnosis.evidence import Evidence, LogTail
from headway.diagnosis.lines import LONGEST, NOWHERE, WINDOW, Line, read
from headway.diagnosis.tracebacks import Trace
from headway.domain.attempt import RankExit

SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 15: "SIGTERM", 31: "SIGSYS",
}  # fmt: skip
"""Linux numbers."""

Lines = dict[int, tuple[int, Sequence[Line]]]
"""The last lines of each rank, with the rank whose stream they stand in."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One rank that ended badly. `stream`: whose stream its lines stand in; `alone`: the job has no other rank."""

    exit: RankExit
    lines: Sequence[Line]
    stream: int
    trace: Trace | None
    alone: bool = False
    drill: bool = False

    @property
    def last_words(self) -> str | None:
        """The exception that ended it, from its log or its error file."""
        return self.trace.text if self.trace else self.exit.error_message

    def first(self, is_wanted: wording.Test) -> Line | None:
        """The first of its lines that a test of wording accepts."""
        return next((line for line in self.lines if is_wanted(line.text)), None)


def bad_endings(evidence: Evidence) -> list[Seen]:
    """Everything known of each rank that did not end with 0, in order of rank."""
    exits = {each.rank: _as_signal(each) for each in evidence.exits}
    lines: Lines = {}
    for tail in evidence.logs.values():
        _take(evidence, tail, exits, lines)
    bad = [_seen(evidence, exits[rank], lines.get(rank)) for rank in sorted(exits) if not exits[rank].is_clean]
    return sorted([*bad, *_overheard(evidence, exits, lines)], key=lambda seen: seen.exit.rank)


def _overheard(evidence: Evidence, exits: dict[int, RankExit], lines: Lines) -> list[Seen]:
    """Ranks whose exit nobody saw but whose traceback stands in the stream of one that ended badly."""
    heard = []
    for rank in set(lines) - set(exits):
        carrier = exits.get(lines[rank][0])
        if carrier and not carrier.is_clean:
            node = evidence.nodes.get(rank, carrier.node)
            heard.append(_seen(evidence, RankExit(rank, node, carrier.at), lines[rank]))
    return [seen for seen in heard if seen.trace]


def _take(evidence: Evidence, tail: LogTail, exits: dict[int, RankExit], lines: Lines) -> None:
    """Add one stream's lines; if torchrun wrote it, its summary replaces torchrun's own exit by its workers'."""
    node = evidence.nodes.get(tail.rank)
    by_rank = read(tail, sorted(rank for rank, at in evidence.nodes.items() if at == node))
    before, failed = torchrun.split(by_rank.get(tail.rank, []))
    launcher = exits.get(tail.rank)
    if failed and launcher:
        del exits[tail.rank]
        exits.update({each.rank: _worker_exit(each, launcher, evidence) for each in reversed(failed)})
        by_rank = _worker_lines(by_rank, tail.rank, before, failed)
    for rank, found in by_rank.items():
        if rank == tail.rank or rank not in lines:
            lines[rank] = (tail.rank, found)


def _worker_lines(
    by_rank: dict[int, list[Line]], stream: int, before: Sequence[Line], failed: Sequence[torchrun.Failure]
) -> dict[int, list[Line]]:
    """Lines without a prefix are the root cause's words, unless it has words of its own; then the stream's rank's."""
    speaker = stream if failed[0].rank in by_rank else failed[0].rank
    words: dict[int, Sequence[Line]] = {**by_rank, stream: [], speaker: before}
    return {each.rank: [*words.get(each.rank, ()), each.line] for each in failed}


def _worker_exit(failure: torchrun.Failure, launcher: RankExit, evidence: Evidence) -> RankExit:
    """A worker's exit from torchrun's summary; the error file torchrun copied is its root cause's."""
    worker = replace(
        launcher,
        rank=failure.rank,
        node=evidence.nodes.get(failure.rank, launcher.node),
        at=failure.at(launcher.at),
        code=failure.exitcode,
        signal=None,
        signal_name=None,
        stopped_by_us=False,
    )
    if not failure.is_root:
        worker = replace(worker, error_message=None, error_callstack=None, error_at=None)
    return _as_signal(worker)


def _as_signal(exit_: RankExit) -> RankExit:
    """An exit code that stands for a signal (-9 from torchrun, 137 from a shell) written as one."""
    code = exit_.code or 0
    signal = exit_.signal or (-code if code < 0 else code - 128)
    if signal not in SIGNALS:
        return exit_
    return replace(exit_, code=None, signal=signal, signal_name=SIGNALS[signal])


def _from_error_file(exit_: RankExit) -> Trace | None:
    """The traceback an error file holds, where the log has none; its lines stand in no stream."""
    text = exit_.error_callstack or ""
    lines = [Line(NOWHERE, each[:LONGEST]) for each in text.splitlines()[-WINDOW:]]
    return tracebacks.blamed(tracebacks.find(lines), wording.is_follower)


def _seen(evidence: Evidence, exit_: RankExit, found: tuple[int, Sequence[Line]] | None) -> Seen:
    stream, lines = found or (exit_.rank, ())
    trace = tracebacks.blamed(tracebacks.find(lines), wording.is_follower) or _from_error_file(exit_)
    return Seen(
        exit=exit_,
        lines=lines,
        stream=stream,
        trace=trace,
        alone=len(evidence.nodes) <= 1,
        drill=evidence.drill_rank == exit_.rank,
    )
