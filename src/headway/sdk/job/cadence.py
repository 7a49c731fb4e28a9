"""When the job's policy asks for a checkpoint: every so many steps, or so much time after the last, on all ranks alike.

In time the ranks cannot each look at their own clock: they would save at different steps. Rank 0 decides and says when
it decides next, in steps; between two decisions nobody talks. A decision lies at most as many steps ahead as were done
since the last save, so that a wrong guess of the pace is found early, and talking stays rare.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Callable, Optional, Tuple

from headway.sdk.job.ranks import Ranks, can_talk, ranks_that_talk

PATIENCE_S = 600.0
"""How long a rank waits for rank 0 to decide: as long as its training may wait for a slow one."""


class Advice:
    """The newest interval in `cadence.json`, which the agent writes; the one from the start while there is none."""

    def __init__(self, path: Optional[Path], first: Optional[float]) -> None:
        self._path = path
        self._seen: Optional[Tuple[int, int]] = None
        self._seconds = first

    def seconds(self) -> Optional[float]:
        """Seconds between two saves; None: nobody asks for any."""
        if self._path is not None:
            try:
                status = os.stat(self._path)
                seen = (status.st_mtime_ns, status.st_ino)
                if seen != self._seen:
                    told = float(json.loads(self._path.read_bytes())["every_s"])
                    self._seen = seen
                    self._seconds = told if told > 0 else self._seconds
            except (OSError, ValueError, KeyError, TypeError):
                pass  # half a policy is better than none: what was told last holds
        return self._seconds


def next_decision(done: int, elapsed: float, every: float) -> Tuple[bool, int]:
    """Whether to save now, and after how many steps to decide again: `done` steps took `elapsed` since the last save.

    It is time once waiting another step would miss the interval by more than saving now does.
    """
    pace = elapsed / done if done else 0.0
    if done and elapsed + pace / 2 >= every:
        return True, 1
    if not pace:
        return False, 1
    left = max(1, round((every - elapsed) / pace))
    return False, min(left, max(1, done))


class Cadence:
    """Answers `due` once a step; every rank asks at the same steps. `steps` None: in time, as the advice says."""

    def __init__(self, steps: Optional[int], advice: Advice, clock: Callable[[], float] = time.monotonic) -> None:
        self._steps = steps
        self._advice = advice
        self._clock = clock
        self._ranks: Optional[Ranks] = None
        self._since: Optional[Tuple[int, float]] = None
        self._decide_at = 0

    @property
    def asks(self) -> bool:
        """Whether anybody asks for checkpoints at all."""
        return self._steps is not None or self._advice.seconds() is not None

    def due(self, step: int) -> bool:
        """Whether the checkpoint of this step is due. The first question begins the first interval."""
        if self._steps is not None:
            return step > 0 and step % self._steps == 0
        if self._since is None or step < self._since[0]:
            self._since, self._decide_at = (step, self._clock()), step + 1
            return False
        if step < self._decide_at:
            return False
        save, again = self._decide(step, self._since)
        if save:
            self._since = (step, self._clock())
        self._decide_at = step + again
        return save

    def _decide(self, step: int, since: Tuple[int, float]) -> Tuple[bool, int]:
        every = self._advice.seconds()
        done, elapsed = step - since[0], self._clock() - since[1]
        own = (False, max(1, done)) if every is None else next_decision(done, elapsed, every)
        if self._ranks is None and can_talk():
            self._ranks = ranks_that_talk(PATIENCE_S)
        if self._ranks is None:
            return own
        save, again = self._ranks.share(own)
        return bool(save), int(again)
