"""Forecasts as people are told them: the scheduler's ranges, calibrated by how earlier ones turned out.

The first range of each job is kept beside what the draws alone had said, so that every start teaches the next ranges.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from math import isfinite

from headway.scheduler.calibrate import Calibration
from headway.scheduler.plan import Forecast
from headway.scheduler.predict import size_class
from headway.scheduler.snapshot import Snapshot
from headway.store.predictions import Prediction

LEARNT_FROM = timedelta(days=30)
SECOND = timedelta(seconds=1)
LONG = 2000
DRAWS, FEW_DRAWS = 20, 5
FURTHEST = timedelta(days=36525)
"""A start farther away is told as so far: one job that asks for the year 9999 must not stop everybody's ranges."""


def draws_for(snapshot: Snapshot) -> int:
    """How many draws an answer that somebody waits for is made from: fewer behind a long queue."""
    return DRAWS if len(snapshot.queued) <= LONG else FEW_DRAWS


def learnt(past: Iterable[Prediction]) -> Calibration:
    """What past predictions were worth, in the order in which they came true."""
    known = Calibration()
    started = ((made.started_at, made) for made in past if made.started_at is not None)
    for at, made in sorted(started, key=lambda pair: (pair[0], pair[1].job)):
        drawn, late, came = ((moment - made.made_at) / SECOND for moment in (made.drawn, made.p90, at))
        known.learn(size_class(made.devices), drawn, late, came, made.passable)
    return known


def told(seen: Iterable[Forecast], snapshot: Snapshot, known: Calibration) -> list[Forecast]:
    """The ranges, each calibrated by its size; what is unknown stays unknown."""
    devices = {job.id: job.request.devices for job in snapshot.queued}
    return [_calibrated(one, size_class(devices[one.job]), known) for one in seen]


def _calibrated(one: Forecast, size: str, known: Calibration) -> Forecast:
    if one.p50 is None or one.p90 is None:
        return one
    middle, late = (_seconds(one.as_of, moment) for moment in (one.p50, one.p90))
    p50, p90 = known.range(size, middle, late, one.passable / SECOND)
    return replace(one, p50=_after(one.as_of, p50), p90=_after(one.as_of, p90))


def _after(as_of: datetime, seconds: float) -> datetime:
    return as_of + min(seconds * SECOND if isfinite(seconds) else FURTHEST, FURTHEST)


def _seconds(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since) / SECOND)
