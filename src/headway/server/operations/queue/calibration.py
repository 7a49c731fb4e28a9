"""How well start times were predicted: the first range each job was given, beside its real start, by project and size.

It judges what was predicted and changes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from headway.scheduler.predict import size_class
from headway.store.predictions import Prediction


@dataclass(frozen=True, slots=True)
class Calibration:
    """Predictions of one project (None: all) and size (None: all). Shares are 0..1, errors are |P50 − start|.

    `within_p90`: started no later than said; `within_p50`: by the middle of the range, which half of them should.
    """

    project: str | None
    size: str | None
    predictions: int
    within_p50: float
    within_p90: float
    median_error_s: float
    mean_error_s: float


def calibrate(predictions: Iterable[Prediction]) -> list[Calibration]:
    """All together, then by project, then by size, then by both; the groups with anything in them."""
    groups: dict[tuple[str | None, str | None], list[Prediction]] = defaultdict(list)
    for made in predictions:
        size = size_class(made.devices)
        for key in ((None, None), (made.project, None), (None, size), (made.project, size)):
            groups[key].append(made)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0] or "", item[0][1] or ""))
    return [_judged(project, size, group) for (project, size), group in ordered]


def _judged(project: str | None, size: str | None, group: list[Prediction]) -> Calibration:
    errors = [abs(_started(made) - made.p50) / timedelta(seconds=1) for made in group]
    return Calibration(
        project=project,
        size=size,
        predictions=len(group),
        within_p50=sum(_started(made) <= made.p50 for made in group) / len(group),
        within_p90=sum(_started(made) <= made.p90 for made in group) / len(group),
        median_error_s=median(errors),
        mean_error_s=sum(errors) / len(group),
    )


def _started(made: Prediction) -> datetime:
    assert made.started_at is not None
    return made.started_at
