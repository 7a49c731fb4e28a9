"""What the agent has seen and the server has not yet recorded; composes the next report.

A report that got no answer is sent again byte for byte with its `seq`: the server can tell a repeat from news, so
readings and drops are neither lost nor counted twice. Nothing is forgotten before an answer has come.
"""

from __future__ import annotations

import json
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_READINGS = 4000
_KINDS = ("exits", "readings", "dropped", "drills_done", "scenes", "checkpoints", "discarded")


class Testimony:
    """The growing record of one agent, and the report in flight."""

    def __init__(self, agent: dict[str, object], facts: dict[str, object]) -> None:
        self._agent = agent
        self.facts: dict[str, object] | None = facts
        self._seq = 0
        self._in_flight: bytes | None = None
        self._sent: dict[str, list[Any]] = {}
        self._fresh: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
        self.phase = "starting"
        self.ranks: list[dict[str, Any]] = []
        self.ended: dict[str, object] | None = None
        self.ended_in_flight = False

    def add(self, kind: str, entries: list[Any]) -> None:
        """More of one of the kinds. The oldest readings go when there are too many."""
        fresh = self._fresh[kind]
        fresh += entries
        if kind == "readings":
            del fresh[: max(0, len(fresh) - _MOST_READINGS)]

    @property
    def urgent(self) -> bool:
        """Whether something unsaid should not wait for the next regular report."""
        unsaid_end = self.ended is not None and not self.ended_in_flight
        return unsaid_end or any(self._fresh[kind] for kind in ("exits", "drills_done", "scenes"))

    def compose(self, events: dict[str, dict[str, object]], with_end: bool) -> bytes:
        """The report to send: the one in flight again, or a new one with everything unsaid."""
        if self._in_flight is not None:
            return self._in_flight
        self._seq += 1
        self._sent, self._fresh = self._fresh, {kind: [] for kind in self._fresh}
        self.ended_in_flight = with_end and self.ended is not None
        report = {
            "seq": self._seq,
            "at": time.time(),
            "agent": self._agent,
            "phase": "ended" if self.ended_in_flight else self.phase,
            "ranks": self.ranks,
            "events": events,
            **self._sent,
            "ended": self.ended if self.ended_in_flight else None,
        }
        if self.facts is not None:
            report["facts"] = self.facts
        self._in_flight = json.dumps(report, separators=(",", ":")).encode()
        return self._in_flight

    def answered(self) -> None:
        """The server has recorded the report in flight."""
        self._in_flight = None
        self.facts = None
        self._sent = {}

    def refused(self) -> None:
        """The server will never take this report: what must arrive is said again in a new one, without readings."""
        self._in_flight = None
        for kind in ("exits", "drills_done", "checkpoints", "discarded"):
            self._fresh[kind] = self._sent.get(kind, []) + self._fresh[kind]
        self.facts = None
        self._sent = {}
