"""Stopping: ask every rank, wait the grace, then kill whatever is left. Never kills before the grace has passed."""

from __future__ import annotations

import signal
import time

from headway.agent.ranks import remains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.agent.ranks.table import Ranks

GANG_PATIENCE_S = 5.0
_NEVER = float("inf")


class Stop:
    """One attempt's stop on this node. Times are monotonic seconds; the deadline the ranks read is wall time."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._kill_at = _NEVER
        self._gang_at = _NEVER
        self.reason: str | None = None
        self.asked_from_outside = False

    @property
    def due(self) -> float:
        """When `advance` has something to do."""
        return min(self._kill_at, self._gang_at)

    def ask(self, reason: str, grace_s: float, now: float) -> bool:
        """Begin, or bring the end of the grace forward; repeating a stop changes nothing. True if it is new."""
        self.asked_from_outside = True
        return self._begin(reason, grace_s, now)

    def rank_went_badly(self, now: float) -> None:
        """One rank of the gang has failed: the others get time for their own last words, then they are stopped."""
        if self.reason is None:
            self._gang_at = min(self._gang_at, now + GANG_PATIENCE_S)

    def advance(self, now: float) -> None:
        """Do what is due."""
        if not self._ranks.running:
            self._gang_at = self._kill_at = _NEVER
        if now >= self._gang_at:
            self._begin("gang", GANG_PATIENCE_S, now)
        if now >= self._kill_at:
            self._kill_at = _NEVER
            self._kill()

    def _kill(self) -> None:
        """SIGKILL the groups of the ranks and everything else of the attempt on this node."""
        self._ranks.signal(signal.SIGKILL)
        for process in self._ranks.left():
            remains.send(process, signal.SIGKILL)

    def _begin(self, reason: str, grace_s: float, now: float) -> bool:
        if now + grace_s < self._kill_at and (self.reason is None or self._kill_at < _NEVER):
            self._kill_at = now + grace_s
            # A rank that has taken its own directory away still gets the signals.
            self._ranks.tell("control.json", {"stop": True, "reason": reason, "deadline": time.time() + grace_s})
        if self.reason is not None:
            return False
        self.reason = reason
        self._gang_at = _NEVER
        self._ranks.signal(signal.SIGTERM)
        return True
