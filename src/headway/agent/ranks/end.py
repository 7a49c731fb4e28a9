"""When an attempt has ended on this node: its ranks are gone, what they left is killed, their last words are read.

Waits ten seconds at most for what will not die: an end is never held up for ever.
"""

from __future__ import annotations

import signal

from headway.agent.ranks import remains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.agent.output.outputs import Outputs
    from headway.agent.ranks.table import Ranks

_SWEEP_S = 10.0
_LOOK_AGAIN_S = 0.02
_NEVER = float("inf")


class End:
    """Watches for the end, once. Times are monotonic seconds."""

    def __init__(self, ranks: Ranks, outputs: Outputs) -> None:
        self._ranks = ranks
        self._outputs = outputs
        self._watching = False
        self._since = _NEVER

    def watch(self, now: float) -> None:
        """The ranks have been started."""
        self._watching = True
        self._note(now)

    def due(self, now: float) -> float:
        """When to look again, while the end is under way."""
        return now + _LOOK_AGAIN_S if self._watching and self._since < _NEVER else _NEVER

    def reached(self, now: float) -> bool:
        """True once: nothing of the attempt runs here, and its output is complete."""
        if not self._watching:
            return False
        self._note(now)
        if self._since == _NEVER:
            return False
        left = self._ranks.left()
        for process in left:
            remains.send(process, signal.SIGKILL)
        if left and now < self._since + _SWEEP_S:
            return False
        self._outputs.close(now)
        self._watching = False
        return True

    def _note(self, now: float) -> None:
        if not self._ranks.running:
            self._since = min(self._since, now)
