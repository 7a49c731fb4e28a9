"""Ranks that ended because another one did, or because Headway stopped the rest of the gang. They never come first."""

from headway.diagnosis import wording
from headway.diagnosis.rules.claim import Claim
from headway.diagnosis.seen import Seen
from headway.diagnosis.verdict import Fault

_ABORT, _PIPE, _TERM = 6, 13, 15


def follower(seen: Seen) -> Claim | None:
    """A rank whose last words are about a peer, or that only ended when Headway stopped it."""
    said = seen.last_words
    interrupted = bool(said and wording.is_interrupt(said))
    if seen.drill or (said and not interrupted and not wording.is_follower(said)):
        return None
    line = seen.trace.exception if seen.trace else seen.first(wording.is_follower)
    claim = Claim(
        seen,
        Fault.PEER_CLOSED,
        confidence=0.6,
        follower=True,
        detail=line.text if line else said,
        lines=(line,) if line else (),
    )
    if seen.exit.stopped_by_us:
        return claim
    if seen.alone or interrupted or seen.exit.signal not in (None, _ABORT, _PIPE, _TERM):
        return None
    return claim if line or said or seen.exit.signal == _PIPE else None
