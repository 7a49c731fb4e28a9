"""What tests of the stall watch show it: steps at an even pace, then whatever else."""

from collections.abc import Mapping
from datetime import timedelta

from headway.diagnosis.stall.signs import Activity, Patience, Signs
from headway.diagnosis.stall.watch import Moved, Stall, Watch
from tests.builders import NOW

IDLE = Activity(cpu_percent=0.5)
WORKS = Activity(cpu_percent=100.0)
QUIET = {0: IDLE, 1: IDLE}
BUSY = {0: WORKS, 1: WORKS}
FLOOR = 60.0
Changes = list[tuple[float, Stall | Moved]]


class Run:
    """An attempt that is watched second by second."""

    def __init__(self, patience: Patience | None = None) -> None:
        self.watch = Watch(patience or Patience(), NOW)
        self.seconds = 0.0
        self.step = 0
        self.changes: Changes = []
        self.log = 0

    def train(self, steps: int, step_s: float = 1.0, **seen: object) -> "Run":
        """Make steps, everybody at work."""
        for _ in range(steps):
            self.seconds += step_s
            self.step += 1
            at = NOW + timedelta(seconds=self.seconds)
            self._see(BUSY, steps=((at, self.step),), **seen)
        return self

    def wait(self, seconds: float, ranks: Mapping[int, Activity] | None = None, **seen: object) -> "Run":
        """No steps, second by second."""
        for _ in range(round(seconds)):
            self.seconds += 1
            self._see(QUIET if ranks is None else ranks, **seen)
        return self

    def _see(self, ranks: Mapping[int, Activity], **seen: object) -> None:
        self.log += int(seen.pop("prints", 0))  # type: ignore[call-overload]
        signs = Signs(NOW + timedelta(seconds=self.seconds), ranks=ranks, log_bytes=self.log, **seen)  # type: ignore[arg-type]
        if (change := self.watch.see(signs)) is not None:
            self.changes.append((self.seconds, change))

    @property
    def stalls(self) -> list[float]:
        """When stalls were called, in seconds from the beginning."""
        return [at for at, change in self.changes if isinstance(change, Stall)]
