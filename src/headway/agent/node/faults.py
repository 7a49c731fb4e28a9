"""What the kernel and the card tool said went wrong, not yet told: one entry for a burst of the same thing.

A storm (one card, a thousand lines a second) becomes one entry with a count, as do the two lines that the kernel
writes about one kill. Decides nothing about causes.
"""

from __future__ import annotations

from headway.agent.node.moments import moment_of
from headway.agent.probes import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_MOST_ENTRIES = 1000
_LONGEST_TEXT = 400
TOOL_HANGS = "tool_hangs"


class Faults:
    """The entries of the next report. `index_at`: which card sits at a PCI address."""

    def __init__(self, index_at: Callable[[str | None], int | None]) -> None:
        self._index_at = index_at
        self._unsaid: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._hanging = False

    @property
    def unsaid(self) -> list[dict[str, Any]]:
        """What the next report tells."""
        return list(self._unsaid.values())

    def said(self) -> None:
        """The entries are kept in a report."""
        self._unsaid.clear()

    def take(self, lines: Iterable[str], now: float) -> bool:
        """Read lines of the kernel; whether one told of a fault."""
        found = False
        for line in lines:
            event = kernel.event_of(line)
            if event is not None:
                found = True
                text = line.partition(";")[2] if line[:1].isdigit() and ";" in line[:60] else line
                self._add(event, moment_of(line, now) or now, text)
        return found

    def tool(self, maker: str, hangs: bool, at: float) -> None:
        """Note that the card tool has begun to hang."""
        if hangs and not self._hanging:
            event = {"kind": TOOL_HANGS, "code": None, "device": None, "pid": None, "process": maker}
            self._add(event, at, f"the card tool of {maker} did not answer")
        self._hanging = hangs

    def _add(self, event: dict[str, Any], at: float, text: str) -> None:
        key = tuple(event[name] for name in ("kind", "code", "device", "pid", "process"))
        known = self._unsaid.get(key)
        if known is not None:
            known["count"] += 1
        elif len(self._unsaid) < _MOST_ENTRIES:
            place = event["device"]
            card = self._index_at(place) if place and ":" in place else None
            self._unsaid[key] = {**event, "card": card, "t": at, "count": 1, "text": text.strip()[:_LONGEST_TEXT]}
