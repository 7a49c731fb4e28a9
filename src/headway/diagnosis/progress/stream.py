"""Follows one rank's output as it comes, in bytes, and says where the run stands: a step that only grows.

One counter is followed where several are printed, the first until it falls silent. A counter that begins again belongs
to an epoch: what was counted before is added. A total is that of the run, or unknown.
"""

import math
import re
from dataclasses import dataclass

from headway.diagnosis.progress.record import Phase, Record
from headway.diagnosis.progress.session import Session

ENDS = re.compile(rb"[\r\n]")
LONGEST_LINE = 64 << 10
"""Bytes without an end that are kept; a refresh longer than this is cut."""
OF_THE_RUN = frozenset({"megatron", "nemo", "minillm", "paddle", "verl"})
"""Readers whose counter runs through the epochs that they print beside it."""


SILENT = 64
"""Records of other counters after which the followed one is given up."""
Counter = tuple[int | None, bool]
"""What tells counters apart: their total, and whether an epoch stands beside them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands. `total`: steps of the whole run; None: not told."""

    step: int
    total: int | None = None
    loss: float | None = None


class Stream:
    """One rank's output."""

    def __init__(self) -> None:
        self.session = Session()
        self._rest = b""
        self._counter: Counter | None = None
        self._others = 0
        self._passed = 0
        self._step = 0
        self._loss: float | None = None
        self.left_s: float | None = None
        """The time left of the run as it is printed, where no total stands beside it: else it may be an epoch's."""

    @property
    def reader(self) -> str | None:
        """Who reads it; None: nobody has matched yet."""
        return self.session.reader

    @property
    def phase(self) -> Phase:
        """What the job does now, as far as its output says."""
        return self.session.phase

    def feed(self, data: bytes) -> Standing | None:
        """Read on; the newest standing, if there is a new one. A bar's refresh counts once the next one begins."""
        *lines, rest = ENDS.split(self._rest + data)
        self._rest = rest[-LONGEST_LINE:]
        found: Standing | None = None
        for line in lines:
            for record in self.session.feed(line.decode("utf-8", errors="replace")):
                found = self._stand(record) or found
        del self.session.phases.ranges[:-1]
        return found

    def skip(self) -> None:
        """Bytes are left out here: what was begun is no line."""
        self._rest = b""

    def _stand(self, record: Record) -> Standing | None:
        if record.loss is not None and math.isfinite(record.loss):
            self._loss = record.loss
        if record.eta_s is not None:
            self.left_s = record.eta_s if record.total_steps is None else None
        if record.step is None or not self._is_followed(record):
            return None
        if record.step < self._step:
            self._passed += self._step
        self._step = record.step
        return Standing(self._passed + record.step, self._total(record), self._loss)

    def _is_followed(self, record: Record) -> bool:
        counter = (record.total_steps, record.epoch is not None)
        if self._counter is None or self._others >= SILENT:
            self._passed, self._step = (0, 0) if self._counter is None else (self._passed + self._step, 0)
            self._counter = counter
        self._others = 0 if counter == self._counter else self._others + 1
        return counter == self._counter

    def _total(self, record: Record) -> int | None:
        if self.session.announced is not None:
            return self.session.announced
        is_of_an_epoch = self._passed or (record.epoch is not None and self.session.reader not in OF_THE_RUN)
        return None if is_of_an_epoch else record.total_steps
