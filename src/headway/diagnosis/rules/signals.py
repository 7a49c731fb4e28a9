"""Ranks ended by a signal: sent from outside, or raised by a crash in native code."""

from headway.diagnosis import tracebacks, wording
from headway.diagnosis.rules.claim import Claim
from headway.diagnosis.seen import Seen
from headway.diagnosis.verdict import Fault

_SENT = frozenset({1, 2, 3, 9, 10, 12, 15})
_ABORT = 6
_DRILL = "drill: Headway killed this rank on purpose"
_NO_DUMP = "its log holds no dump"
_NO_WORDS = "its process was killed without a word"


def killed(seen: Seen) -> Claim | None:
    """Killed from outside, without an error of its own. What Headway stopped had one, or followed another."""
    interrupted = bool(seen.last_words and wording.is_interrupt(seen.last_words))
    if (seen.exit.signal not in _SENT and not interrupted) or (seen.exit.stopped_by_us and not seen.drill):
        return None
    return Claim(
        seen,
        Fault.KILLED,
        confidence=0.99 if seen.drill else 0.9,
        detail=_DRILL if seen.drill else _NO_WORDS,
        lines=tuple(seen.lines[-1:]),
    )


def crashed(seen: Seen) -> Claim | None:
    """A crash in native code; an abort after a Python exception is left to the exception."""
    if seen.exit.signal is None or seen.exit.stopped_by_us or (seen.exit.signal == _ABORT and seen.trace):
        return None
    line = seen.first(wording.is_crash_line)
    return Claim(
        seen,
        Fault.CRASHED,
        confidence=0.85,
        location=_dumped_location(seen),
        detail=line.text if line else _NO_DUMP,
        lines=(line,) if line else tuple(seen.lines[-1:]),
    )


def _dumped_location(seen: Seen) -> str | None:
    """The user's innermost frame in a dump of faulthandler, which prints the innermost frame first."""
    starts = [index for index, line in enumerate(seen.lines) if "(most recent call first)" in line.text]
    frames = [frame for line in seen.lines[starts[0] :] if (frame := tracebacks.frame_of(line.text))] if starts else []
    return next((frame for frame in frames if not tracebacks.is_library(frame)), None)
