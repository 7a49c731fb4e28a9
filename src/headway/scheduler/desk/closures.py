"""Nodes a job may not have: those it excludes, and those in a window that it might still be running in.

Decides by the longest run time that is likely: nothing whose P90 end crosses a window starts.
"""

from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Line
from headway.scheduler.desk.pool import Limits
from headway.scheduler.desk.reserve import Span
from headway.scheduler.snapshot import Window

NONE: Limits = {}


class Closures:
    """What windows and exclusions leave, at one desk and one moment."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._windows = [window for window in desk.windows if desk.seconds(window.ends) > desk.now]
        self._known: dict[tuple[Line, int], Limits] = {}

    def bars_all(self, line: Line, pool: int) -> bool:
        """Whether a window over the whole pool is in the way."""
        return any(not window.nodes and self._crosses(window, line) for window in self._over(line, pool))

    def barred(self, line: Line, pool: int) -> Limits:
        """Nodes of the pool that the line may not have now, as limits of 0."""
        if not line.excluded and not self._windows:
            return NONE
        key = (line, pool)
        if key not in self._known:
            limits = dict(self.excluded(line, pool))
            for window in self._over(line, pool):
                if window.nodes and self._crosses(window, line):
                    limits |= self._indices(window.nodes, pool)
            self._known[key] = limits
        return self._known[key]

    def excluded(self, line: Line, pool: int) -> Limits:
        """Nodes that the line excludes whenever it starts."""
        return self._indices(line.excluded, pool) if line.excluded else NONE

    def is_why(self, line: Line, pool: int) -> bool:
        """Whether the gang would fit but for windows."""
        if not self._windows:
            return False
        limits = self.excluded(line, pool)
        return self._desk.pools[pool].fit(line.nodes, line.wanted, limits or None) is not None

    def spans(self, line: Line, pool: int) -> list[Span]:
        """When a start in the pool is out of the question; a window over some of its nodes counts as over all."""
        return [(self._desk.seconds(w.begins), self._desk.seconds(w.ends)) for w in self._over(line, pool)]

    def first(self, line: Line, pool: int) -> Window | None:
        """The window to name."""
        crossing = [window for window in self._over(line, pool) if self._crosses(window, line)]
        return min(crossing, key=lambda window: (window.begins, window.name), default=None)

    def _over(self, line: Line, pool: int) -> list[Window]:
        device_type = self._desk.pools[pool].device_type
        return [
            window
            for window in self._windows
            if window.device_type in (None, device_type) and window.project != line.project
        ]

    def _crosses(self, window: Window, line: Line) -> bool:
        return line.length is None or self._desk.now + line.length > self._desk.seconds(window.begins)

    def _indices(self, names: frozenset[str], pool: int) -> dict[int, int]:
        where = self._desk.where
        return {where[name][1]: 0 for name in names if name in where and where[name][0] == pool}
