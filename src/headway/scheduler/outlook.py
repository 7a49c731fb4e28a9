"""What would follow a submission: the jobs put into the queue as it stands, really scheduled, and nothing kept.

Decides nothing and promises nothing: the plan is the cycle's, the range the forecast's, the length history's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from headway.scheduler.cycle import schedule
from headway.scheduler.forecast import forecast
from headway.scheduler.lane import Reach
from headway.scheduler.plan import Forecast, Start, Waits
from headway.scheduler.predict import Predictor, traits_of
from headway.scheduler.snapshot import QueuedJob, Snapshot


@dataclass(frozen=True, slots=True)
class Outlook:
    """One job: `start` where it would start at once, else `waits`; `waiting`: how many would then be in the queue.

    `usual` and `long`: half, and nine of ten, of such jobs are over by then; None: nobody knows. `remembered`: by past
    runs, else by its own limit.
    """

    job: QueuedJob
    start: Start | None
    waits: Waits | None
    waiting: int
    forecast: Forecast
    usual: timedelta | None
    long: timedelta | None
    remembered: bool


def outlook(snapshot: Snapshot, jobs: Sequence[QueuedJob], draws: int = 20) -> tuple[Outlook, ...]:
    """Each of these jobs, submitted together; the last is looked for until it starts."""
    there = replace(snapshot, queued=(*snapshot.queued, *jobs))
    plan = schedule(there)
    starts = {start.job: start for start in plan.starts}
    waits = {wait.job: wait for wait in plan.waits}
    reach = Reach(first=len(there.queued), seconds=0.0, goals=frozenset({jobs[-1].id}))
    ranges = forecast(there, there.runtimes, draws, reach=reach)
    predictor = Predictor(there.runtimes)
    return tuple(
        Outlook(
            job=job,
            start=starts.get(job.id),
            waits=waits.get(job.id),
            waiting=len(plan.waits),
            forecast=ranges[job.id],
            usual=_length(predictor, job, 0.5),
            long=_length(predictor, job, 0.9),
            remembered=bool(predictor.samples(traits_of(job))),
        )
        for job in jobs
    )


def _length(predictor: Predictor, job: QueuedJob, quantile: float) -> timedelta | None:
    seconds = predictor.quantile(traits_of(job), quantile)
    return None if seconds is None else timedelta(seconds=seconds)
