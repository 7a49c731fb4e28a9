"""Each job's place in the queue, in words, and who is ahead of it.

The order itself: resuming jobs, then priority class, then within the guarantee before borrowed, then what a job counts
as submitted at (see `desk.asks` and `share`); the id breaks ties. Whether a job starts is not decided here.
"""

from collections.abc import Hashable, Iterator, Sequence

from headway.domain.errors import Language, message
from headway.domain.ids import JobId
from headway.scheduler.plan import AHEAD, Place
from headway.scheduler.snapshot import QueuedJob


def sentence(job: QueuedJob, language: Language) -> str:
    """Why a job stands where it stands, before any plan has placed it."""
    code = "order-resuming" if job.resuming else "order-new"
    since = job.submitted_at.isoformat(timespec="seconds")
    return message(code, {"job": job.id, "priority": job.priority.value, "since": since}, language)


def place_sentence(place: Place, language: Language) -> str:
    """Why a job stands where it stands, in one sentence with its numbers."""
    quota = "rule-order-within" if place.within_guarantee else "rule-order-borrowed"
    hours = {"length_h": place.length_shift, "share_h": place.share_shift}
    return message(
        "order-placed",
        {
            "priority": place.priority.value,
            "quota": quota,
            "since": place.submitted_at.isoformat(timespec="seconds"),
            "counts_from": place.counts_from.isoformat(timespec="seconds"),
            "predicted": None if place.predicted is None else str(place.predicted).partition(".")[0],
            "share": round(place.share, 2),
            **{name: round(shift.total_seconds() / 3600, 1) for name, shift in hours.items()},
        },
        language,
    )


def ahead_of_each(waiting: Sequence[tuple[JobId, tuple[Hashable, ...]]]) -> Iterator[tuple[tuple[JobId, ...], int]]:
    """For each waiting job, given in order with the pools it may use: those before it that may use one of them (the
    first `AHEAD`), and how many they are."""
    lines: dict[tuple[Hashable, ...], list[JobId]] = {pools: [] for _, pools in waiting}
    counts = dict.fromkeys(lines, 0)
    rivals = {pools: [others for others in lines if set(pools) & set(others)] for pools in lines}
    full: dict[tuple[Hashable, ...], tuple[JobId, ...]] = {}
    for job, pools in waiting:
        known = full.get(pools)
        if known is None:
            known = tuple(lines[pools])
            if len(known) == AHEAD:
                full[pools] = known
        yield known, counts[pools]
        for others in rivals[pools]:
            counts[others] += 1
            if len(lines[others]) < AHEAD:
                lines[others].append(job)
