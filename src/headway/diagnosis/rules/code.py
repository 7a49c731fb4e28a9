"""Errors of the user's own program: an exception nobody caught, or a command that could not begin."""

from headway.diagnosis import wording
from headway.diagnosis.rules.claim import Claim
from headway.diagnosis.seen import Seen
from headway.diagnosis.verdict import Fault


def exception(seen: Seen) -> Claim | None:
    """An exception that nobody caught, with the innermost line of the user's own code."""
    if seen.last_words is None:
        return None
    location = seen.trace.location if seen.trace else None
    return Claim(
        seen,
        Fault.CODE_ERROR,
        confidence=0.95 if location else 0.75,
        location=location,
        detail=seen.last_words,
        lines=(seen.trace.exception,) if seen.trace else (),
    )


def refused(seen: Seen) -> Claim | None:
    """A command line, file or module that was refused before the program began."""
    line = seen.first(wording.is_launch_complaint)
    return Claim(seen, Fault.CODE_ERROR, 0.8, detail=line.text, lines=(line,)) if line else None


def unexplained(seen: Seen) -> Claim:
    """It ended badly and nothing says why."""
    return Claim(seen, Fault.UNKNOWN, 0.3, lines=tuple(seen.lines[-1:]))
