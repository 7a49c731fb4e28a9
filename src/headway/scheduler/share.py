"""Fair share: how much of a device type each project used lately, against its weight.

Use counts half as much after each half-life. Decides how much later a project's jobs count as submitted; never whether
they may start.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import log, log2

from headway.scheduler.desk.accounts import Rule
from headway.scheduler.policy import Policy

NEAR_NOTHING = 1 / 64
LN2 = log(2)


def decayed(
    runs: Iterable[tuple[str, str, datetime, datetime, int]], now: datetime, half_life: timedelta
) -> dict[tuple[str, str], float]:
    """Device-hours by (project, device type) as they count at `now`, from runs (project, type, from, to, devices)."""
    usage: dict[tuple[str, str], float] = defaultdict(float)
    life = half_life.total_seconds()
    for project, device_type, began, ended, devices in runs:
        age = (now - min(ended, now)).total_seconds()
        span = max(0.0, (min(ended, now) - began).total_seconds())
        # ∫ 2^(-t/life) over the run, seen from now.
        usage[project, device_type] += devices * (2 ** (-age / life) - 2 ** (-(age + span) / life)) * life / 3600 / LN2
    return dict(usage)


class FairShare:
    """Decayed device-hours by account number, as virtual time passes. Shifts are whole seconds, so that projects that
    used alike stand alike."""

    def __init__(self, usage: Mapping[tuple[str, str], float], policy: Policy) -> None:
        self._known = usage
        self._life = policy.half_life.total_seconds()
        self._step = policy.fair_shift.total_seconds()
        self._bound = 0.0 if policy.fifo else policy.fair_bound.total_seconds()
        self._hours: list[float] = []
        self._leaves: list[tuple[int, str, str, float]] = []
        self._weighed = 0
        self._at = 0.0
        self.shifts: dict[str, float] = {}
        self.ratios: dict[str, float] = {}

    def copy(self) -> "FairShare":
        """One that changes apart from this."""
        twin = object.__new__(FairShare)
        twin.__dict__.update(self.__dict__)
        twin._hours, twin.shifts, twin.ratios = self._hours[:], self.shifts, self.ratios
        return twin

    def advance(self, now: float, rules: Sequence[Rule], used: Sequence[int]) -> None:
        """Time passes with these devices in use."""
        for number in range(len(self._hours), len(rules)):
            rule = rules[number]
            self._hours.append(self._known.get((rule.branch, rule.device_type), 0.0))
        seconds = now - self._at
        if not seconds and self._weighed == len(rules):
            return
        fade = 2 ** (-seconds / self._life)
        gain = (1 - fade) * self._life / 3600 / LN2
        self._hours = [hours * fade + devices * gain for hours, devices in zip(self._hours, used, strict=True)]
        if self._weighed != len(rules):
            self._leaves = [(n, r.branch, r.device_type, r.weight) for n, r in enumerate(rules) if r.is_project]
        self._at, self._weighed = now, len(rules)
        if self._bound:
            self._weigh()

    def _weigh(self) -> None:
        totals: dict[str, float] = defaultdict(float)
        weights: dict[str, float] = defaultdict(float)
        hours = self._hours
        for number, _, device_type, weight in self._leaves:
            totals[device_type] += hours[number]
            weights[device_type] += weight
        ratios: dict[str, float] = {}
        for number, project, device_type, weight in self._leaves:
            if total := totals[device_type]:
                ratio = hours[number] / total * weights[device_type] / weight
                if ratio >= ratios.get(project, 0.0):
                    ratios[project] = ratio
        self.ratios = ratios
        self.shifts = {project: self._shift(ratio) for project, ratio in ratios.items()}

    def _shift(self, ratio: float) -> float:
        shift, bound = self._step * log2(ratio if ratio > NEAR_NOTHING else NEAR_NOTHING), self._bound
        return float(round(bound if shift > bound else -bound if shift < -bound else shift))
