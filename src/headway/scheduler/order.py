"""Each job's place in the queue, in words, and who is ahead of it.

The order itself: resuming jobs, then priority class, then within the guarantee before borrowed, then what a job counts
as submitted at (see `desk.asks` and `share`); the id breaks ties. Whether a job starts is not decided here.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from headway.domain.errors import Language, message
from headway.domain.ids import JobId
from headway.scheduler.plan import AHEAD, Place
from headway.scheduler.snapshot import QueuedJob

Pools = tuple[Hashable, ...]


def sentence(job: QueuedJob, language: Language) -> str:
    """Why a job stands where it stands, before any plan has placed it."""
    code = "order-resuming" if job.resuming else "order-new"
    since = job.submitted_at.isoformat(timespec="seconds")
    return message(code, {"job": job.id, "priority": job.priority.value, "since": since}, language)


def place_sentence(place: Place, language: Language) -> str:
    """Why a job stands where it stands, in one sentence with its numbers."""
    hours = {"predicted_h": place.predicted, "length_h": place.length_shift, "share_h": abs(place.share_shift)}
    return message(
        "order-placed",
        {
            "priority": place.priority.value,
            "quota": "rule-order-within" if place.within_guarantee else "rule-order-borrowed",
            "by_length": "rule-order-length-unknown" if place.predicted is None else "rule-order-length",
            "by_use": "rule-order-use-earlier" if place.share_shift < timedelta() else "rule-order-use-later",
            "share": round(place.share, 2),
            **{name: None if span is None else round(span.total_seconds() / 3600, 1) for name, span in hours.items()},
        },
        language,
    )


class Ahead:
    """Who is ahead of each waiting job and may use one of its pools, told in order. `kinds`: the pools of all jobs that
    will be asked about."""

    def __init__(self, kinds: Iterable[Pools]) -> None:
        self._crowds = {pools: _Crowd() for pools in kinds}
        for pools, crowd in self._crowds.items():
            crowd.rivals = [other for others, other in self._crowds.items() if set(pools) & set(others)]

    def of(self, job: JobId, pools: Pools) -> tuple[tuple[JobId, ...], int]:
        """The first `AHEAD` of those ahead of the next waiting job, and how many they are."""
        crowd = self._crowds[pools]
        told = crowd.first, crowd.count
        for rival in crowd.rivals:
            rival.count += 1
            if rival.count <= AHEAD:
                rival.first += (job,)
        return told


@dataclass(slots=True)
class _Crowd:
    """Who has been told of, of those that use one of some pools; `rivals`: the crowds that a job of these counts in."""

    first: tuple[JobId, ...] = ()
    count: int = 0
    rivals: list["_Crowd"] = field(default_factory=list)
