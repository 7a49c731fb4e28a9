"""The verdict on an attempt that Headway stopped because it hung."""

from headway.diagnosis.cause import Retry, usual_owner, usual_retry
from headway.diagnosis.evidence import Evidence
from headway.diagnosis.hang.judge import judge
from headway.diagnosis.verdict import Fault, Verdict


def of_stall(evidence: Evidence) -> Verdict:
    """What it waited for when it was stopped: class, rank, whose move it is."""
    hang = judge(evidence.scenes)
    advice = usual_retry(hang.cause)
    return Verdict(
        attempt=evidence.attempt,
        fault=Fault.STALLED,
        owner=usual_owner(hang.cause),
        retry=advice is not Retry.NO_RETRY,
        confidence=hang.confidence,
        rank=hang.rank,
        node=hang.node,
        location=hang.location,
        detail=hang.detail,
        followers=hang.followers,
        cause=hang.cause,
        advice=advice,
    )
