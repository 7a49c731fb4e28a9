"""What the failures of a job cost in all, and what another interval between checkpoints would have cost.

Beside `cadence`, which advises an interval for faults to come, this looks back on those that came; both take a save to
cost what `cadence.cost_of` says. The steps that were done are taken as they were; only the checkpoints are imagined
elsewhere. An outage costs the same whatever the interval, and is left out of the comparison.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from headway.domain.checkpoint import LossBill
from headway.registry.cadence import Cost

FACTORS = (0.25, 0.5, 1, 2, 4)


@dataclass(frozen=True, slots=True)
class Run:
    """What one broken attempt did: from `began` to `broke` steps, on `devices`, at `step_s` seconds a step."""

    began: int
    broke: int
    devices: int
    step_s: float


@dataclass(frozen=True, slots=True)
class IntervalCost:
    """What saving every `every_steps` steps would have cost: device-seconds of steps done again, and of saving."""

    every_steps: int
    lost_steps: int
    saves: int
    lost_device_seconds: float
    saving_device_seconds: float

    @property
    def device_seconds(self) -> float:
        return self.lost_device_seconds + self.saving_device_seconds


@dataclass(frozen=True, slots=True)
class Losses:
    """A job's failures in sum. `outage_s`: from each fault to the first new step, as far as it is known.

    `intervals`: empty where the pace of the broken attempts, or how often they saved, is not known; the one in use is
    `every_steps`.
    """

    failures: int
    lost_steps: int
    device_seconds: int
    outage_s: float
    unfinished: int
    every_steps: int | None
    save_s: float | None
    intervals: tuple[IntervalCost, ...]


def sum_up(bills: Sequence[LossBill], runs: Sequence[Run], every_steps: int | None, cost: Cost) -> Losses:
    """All failures of a job. `cost`: of its saves; `runs`: attempts of known pace."""
    save_s = cost.blocking.total_seconds() if cost.saves else None
    intervals = compared(runs, every_steps, save_s or 0.0) if every_steps and runs else ()
    outages = [bill.kill_to_first_step_s for bill in bills]
    return Losses(
        failures=len(bills),
        lost_steps=sum(bill.lost_steps for bill in bills),
        device_seconds=sum(bill.device_seconds_lost for bill in bills),
        outage_s=sum(seconds for seconds in outages if seconds is not None),
        unfinished=sum(bill.passed_fault_step_at is None for bill in bills),
        every_steps=every_steps,
        save_s=save_s,
        intervals=intervals,
    )


def usual_interval(steps: Sequence[int]) -> int | None:
    """The usual distance between checkpoints of these steps; None for fewer than two."""
    ordered = sorted(set(steps))
    gaps = [after - before for before, after in pairwise(ordered)]
    return round(median(gaps)) if gaps else None


def compared(runs: Sequence[Run], every_steps: int, save_s: float) -> tuple[IntervalCost, ...]:
    """The interval in use and its neighbours, shortest first."""
    around = sorted({max(1, round(every_steps * factor)) for factor in FACTORS})
    return tuple(cost_of(runs, every, save_s) for every in around)


def cost_of(runs: Sequence[Run], every_steps: int, save_s: float) -> IntervalCost:
    """What these runs would have cost with a checkpoint at every multiple of `every_steps`, each `save_s` long."""
    lost = [run.broke - max(run.began, run.broke // every_steps * every_steps) for run in runs]
    saves = [run.broke // every_steps - run.began // every_steps for run in runs]
    return IntervalCost(
        every_steps=every_steps,
        lost_steps=sum(lost),
        saves=sum(saves),
        lost_device_seconds=sum(steps * run.step_s * run.devices for steps, run in zip(lost, runs, strict=True)),
        saving_device_seconds=sum(count * save_s * run.devices for count, run in zip(saves, runs, strict=True)),
    )
