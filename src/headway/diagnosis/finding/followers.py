"""Ranks that complained, or were ended, only because another one was gone. Names none that may have failed itself."""

from collections.abc import Sequence

from headway.diagnosis.cause import Cause
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.exits import Exit, ranks_in_ranges
from headway.diagnosis.reading.read import Reading
from headway.diagnosis.signs.sign import VAGUE, Kind


def followers_of(
    reading: Reading, lead: Claim, first: int | None, claims: Sequence[Claim], ends: Sequence[Exit]
) -> tuple[int, ...]:
    """The followers, without the first; those named by their own complaint or by a launcher's summary."""
    follows = [claim for claim in claims if claim.kind is Kind.FOLLOWER]
    faults = [claim for claim in claims if claim.kind is Kind.FAULT]
    named = {claim.rank for claim in follows if claim.rank is not None and _is_complaint(claim, reading)}
    named |= {end.rank for end in ends if end.in_summary and not end.is_root and end.rank is not None}
    named |= {claim.rank for claim in faults if claim.rank is not None and _waits_in_vain(claim, lead)}
    for ranks in ranks_in_ranges(reading.entries).values():
        named |= set(ranks)
    return tuple(sorted(named - {first}))


def _waits_in_vain(claim: Claim, lead: Claim) -> bool:
    """A client that could not reach the one who could not listen has no fault of its own."""
    return lead.rank is not None and claim.cause is Cause.COMM_BOOTSTRAP and "client socket" in claim.entry.lower


def _is_complaint(claim: Claim, reading: Reading) -> bool:
    """What anybody says while being taken down names a rank only if the line itself does, not just its file."""
    return claim.kind is Kind.FOLLOWER and (claim.weight >= VAGUE or reading.names[claim.entry.file].rank is None)
