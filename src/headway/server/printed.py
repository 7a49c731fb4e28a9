"""Who reads the output of each running attempt, and which phase it tells: in memory, for whoever looks.

Written by the loop that reads, anew within seconds after a start; never the only record of anything.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from threading import Lock

from headway.diagnosis.progress import Phase
from headway.domain.ids import AttemptId

SDK = "sdk"
"""The reader's name of a job that reports its own progress."""
IN_WORDS_OF_THE_SDK = {
    Phase.TOKENISING: "tokenise",
    Phase.COMPILING: "compile",
    Phase.EVALUATION: "evaluate",
    Phase.SAVING: "save",
}


@dataclass(frozen=True, slots=True)
class Telling:
    """What an attempt's output says beside its steps. `reader` None: nobody has matched; `left_s`: as it is printed."""

    reader: str | None
    phase: Phase
    left_s: float | None = None


class Printed:
    """Every running attempt. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._telling: dict[AttemptId, Telling] = {}
        self._own: set[AttemptId] = set()

    def read(self, attempt: AttemptId, told: Telling) -> None:
        """A part of an attempt's output was read."""
        with self._lock:
            self._telling[attempt] = replace(told, reader=SDK) if attempt in self._own else told

    def reports_itself(self, attempt: AttemptId) -> None:
        """The job has told its progress through the in-job SDK."""
        with self._lock:
            self._own.add(attempt)

    def is_own(self, attempt: AttemptId) -> bool:
        """Whether the job reports by itself."""
        return attempt in self._own

    def phase(self, attempt: AttemptId) -> str | None:
        """A phase that is no training, in the words of the in-job SDK; None of a job that reports by itself."""
        told = None if attempt in self._own else self.telling(attempt)
        return None if told is None else IN_WORDS_OF_THE_SDK.get(told.phase)

    def telling(self, attempt: AttemptId) -> Telling | None:
        """What was read of an attempt; None: nothing yet."""
        with self._lock:
            return self._telling.get(attempt)

    def keep(self, running: Collection[AttemptId]) -> None:
        """Forget every attempt but these."""
        with self._lock:
            self._telling = {id: told for id, told in self._telling.items() if id in running}
            self._own &= set(running)
