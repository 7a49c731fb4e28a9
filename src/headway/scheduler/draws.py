"""Run times for a forecast: deterministic draws, spread evenly over what past runs took.

Over all draws each job meets every quantile once (a Latin hypercube); which draw meets which is scrambled by the job's
id, so that jobs do not all run long in the same draw. Never random: same snapshot, same draws.
"""

from collections.abc import Sequence
from math import exp, gcd
from statistics import NormalDist
from zlib import crc32

from headway.domain.ids import JobId
from headway.scheduler.desk.desk import Desk
from headway.scheduler.predict import Predictor, Traits
from headway.scheduler.snapshot import Runtimes

SPREAD = 0.2
"""How far the time left, foretold from a job's own pace, may be off: the standard deviation of its logarithm. Its pace
so far says nothing of pauses, evaluations and an early end, so the range is never a point."""

LEAST_OF_LIMIT = 0.1
"""Of a job that nothing is known of but its limit: the least share of it that is foretold."""


class Draws:
    """Seconds a job has its devices, from start to end, by draw. None: nobody knows."""

    def __init__(self, desk: Desk, runtimes: Runtimes, draws: int) -> None:
        self.draws = draws
        self._predictor = Predictor(runtimes)
        self._steps = [step for step in range(1, draws + 1) if gcd(step, draws) == 1]
        self._queued: dict[JobId, Sequence[float]] = {}
        self._scrambled: dict[JobId, tuple[int, int]] = {}
        self._running: dict[JobId, tuple[Sequence[float], float]] = {}
        self._said: dict[JobId, float] = {}
        for claim in desk.claims.values():
            assert claim.traits is not None
            if claim.own_end and claim.end is not None:
                self._said[claim.job] = claim.end - max(claim.began, desk.now)
            ran = max(0.0, desk.now - claim.began)
            self._running[claim.job] = (self._predictor.samples(claim.traits, ran), ran)

    def of_running(self, job: JobId, traits: Traits, draw: int) -> float | None:
        """What the job says itself; else its history, given that it has run this long; else its limit, of which people
        ask for too much: as long again as it ran, and at least a tenth of the limit, by Lindy's law."""
        samples, ran = self._running[job]
        place = self._place(job, draw)
        if job in self._said:
            return ran + max(0.0, self._said[job]) * exp(SPREAD * NormalDist().inv_cdf(place))
        if samples:
            length = samples[int(place * len(samples))]
        elif traits.limit is None:
            return None
        else:
            length = max(ran, LEAST_OF_LIMIT * traits.limit) / max(1 - place, LEAST_OF_LIMIT)
        return length if traits.limit is None else min(length, max(traits.limit, ran))

    def of_queued(self, job: JobId, traits: Traits, draw: int) -> float | None:
        """Its history; else its limit."""
        samples = self._queued.get(job)
        if samples is None:
            samples = self._queued[job] = self._predictor.samples(traits)
        if not samples:
            return traits.limit
        length = samples[int(self._place(job, draw) * len(samples))]
        return length if traits.limit is None else min(length, traits.limit)

    def _place(self, job: JobId, draw: int) -> float:
        known = self._scrambled.get(job)
        if known is None:
            seed = crc32(job.encode())
            known = self._scrambled[job] = (seed // 64, self._steps[seed % len(self._steps)])
        return ((known[0] + draw * known[1]) % self.draws + 0.5) / self.draws
