"""Who reads the output of each running attempt, and which phase it tells: in memory, for whoever looks.

Written by the loop that reads, anew within seconds after a start; never the only record of anything.
"""

from collections.abc import Collection
from dataclasses import dataclass
from threading import Lock

from headway.domain.ids import AttemptId

SDK = "sdk"
"""The reader's name of a job that reports its own progress."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What an attempt's output says beside its steps. `reader` None: no reader has matched yet."""

    reader: str | None
    phase: str


class Printed:
    """Every running attempt. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._telling: dict[AttemptId, Telling] = {}
        self._own: set[AttemptId] = set()

    def read(self, attempt: AttemptId, reader: str | None, phase: str) -> None:
        """A part of an attempt's output was read."""
        with self._lock:
            self._telling[attempt] = Telling(SDK if attempt in self._own else reader, phase)

    def reports_itself(self, attempt: AttemptId) -> None:
        """The job has told its progress through the in-job SDK."""
        with self._lock:
            self._own.add(attempt)

    def is_own(self, attempt: AttemptId) -> bool:
        """Whether the job reports by itself."""
        return attempt in self._own

    def telling(self, attempt: AttemptId) -> Telling | None:
        """What was read of an attempt; None: nothing yet."""
        with self._lock:
            return self._telling.get(attempt)

    def keep(self, running: Collection[AttemptId]) -> None:
        """Forget every attempt but these."""
        with self._lock:
            self._telling = {id: told for id, told in self._telling.items() if id in running}
            self._own &= set(running)
