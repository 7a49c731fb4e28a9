"""Progress without a code change: what a job's own output says of step, loss, pace and phase, and the time left."""

from headway.diagnosis.progress.rate import Rate, Sample, rate
from headway.diagnosis.progress.record import Phase, PhaseRange, Progress, Record, as_dict
from headway.diagnosis.progress.session import Session, read
from headway.diagnosis.progress.stream import Standing, Stream

__all__ = [
    "Phase",
    "PhaseRange",
    "Progress",
    "Rate",
    "Record",
    "Sample",
    "Session",
    "Standing",
    "Stream",
    "as_dict",
    "rate",
    "read",
]
