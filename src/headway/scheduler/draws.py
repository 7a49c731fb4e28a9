"""Run times for a forecast: deterministic draws, spread evenly over what past runs took.

Over all draws each job meets every quantile once (a Latin hypercube); which draw meets which is scrambled by the job's
id, so that jobs do not all run long in the same draw. Never random: same snapshot, same draws.
"""

from collections.abc import Sequence
from math import exp, gcd
from statistics import NormalDist
from zlib import crc32

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.desk import Desk
from headway.scheduler.predict import Predictor, Traits
from headway.scheduler.snapshot import Runtimes

SPREAD = 0.2
"""How far the time left, foretold from a job's own pace, may be off: the standard deviation of its logarithm. Its pace
so far says nothing of pauses, evaluations and an early end, so the range is never a point."""

LEAST_OF_LIMIT = 0.1
"""Of a job that nothing is known of but its limit: the least share of it that is foretold."""


class Draws:
    """Seconds a job has its devices, from start to end, by draw; those of a job together. None: nobody knows."""

    def __init__(self, desk: Desk, runtimes: Runtimes, draws: int) -> None:
        self.draws = draws
        self._predictor = Predictor(runtimes)
        self._steps = [step for step in range(1, draws + 1) if gcd(step, draws) == 1]
        self._queued: dict[JobId, Sequence[float | None]] = {}
        self._scrambled: dict[tuple[int, int], Sequence[float]] = {}
        self._running = {claim.job: self._of_claim(claim, desk.now) for claim in desk.claims.values()}

    def of_running(self, job: JobId, draw: int) -> float | None:
        """What the job says itself; else its history, given that it has run this long; where it has outlived that, or
        there is none, as long again as it ran, by Lindy's law, and at least a tenth of its limit, of which people ask
        for too much."""
        return self._running[job][draw]

    def of_queued(self, job: JobId, traits: Traits, draw: int) -> float | None:
        """Its history; else its limit."""
        lengths = self._queued.get(job)
        if lengths is None:
            lengths = self._queued[job] = self._of_traits(job, traits)
        return lengths[draw]

    def _of_traits(self, job: JobId, traits: Traits) -> Sequence[float | None]:
        samples = self._predictor.samples(traits)
        if not samples:
            return [traits.limit] * self.draws
        return _at_most(traits.limit, [samples[int(place * len(samples))] for place in self._places(job)])

    def _of_claim(self, claim: Claim, now: float) -> Sequence[float | None]:
        assert claim.traits is not None
        places, limit, ran = self._places(claim.job), claim.traits.limit, max(0.0, now - claim.began)
        if claim.own_end and claim.end is not None:
            said = max(0.0, claim.end - max(claim.began, now))
            return [ran + said * exp(SPREAD * NormalDist().inv_cdf(place)) for place in places]
        samples = self._predictor.samples(claim.traits, ran)
        if samples:
            lengths = [samples[int(place * len(samples))] for place in places]
        elif limit is None and not self._predictor.samples(claim.traits):
            return [None] * self.draws
        else:
            least = max(ran, LEAST_OF_LIMIT * (limit or 0.0))
            lengths = [least / max(1 - place, LEAST_OF_LIMIT) for place in places]
        return _at_most(None if limit is None else max(limit, ran), lengths)

    def _places(self, job: JobId) -> Sequence[float]:
        """Where among all that may be the job is found, by draw."""
        seed = crc32(job.encode())
        first, step = seed // 64 % self.draws, self._steps[seed % len(self._steps)]
        known = self._scrambled.get((first, step))
        if known is None:
            places = [((first + draw * step) % self.draws + 0.5) / self.draws for draw in range(self.draws)]
            known = self._scrambled[first, step] = places
        return known


def _at_most(limit: float | None, lengths: list[float]) -> Sequence[float]:
    return lengths if limit is None else [min(length, limit) for length in lengths]
