"""Reads what the ranks append to their events files: whole lines only, from the byte the server has recorded on.

The files belong to the user: they may hold anything, be links, pipes or gone. Bytes that are not UTF-8 become `?`, one
for one, so that offsets stay true.
"""

from __future__ import annotations

import os

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.agent.order import Order

_REPORT_BYTES = 256 << 10
_LONGEST_LINE = 64 << 10
_PLAIN = bytes(range(128)) + b"?" * 128


class Tails:
    """The events files of one node, each with the offset up to which the server has it."""

    def __init__(self, order: Order, directory: str) -> None:
        self._order = order
        self._directory = directory
        self._owner = order.user.uid if order.user else None
        self._offsets: dict[int, int] = {}

    def collect(self) -> tuple[dict[str, dict[str, object]], bool]:
        """The next whole lines of every rank, at most 256 KiB together, and whether these are all there are now."""
        room = _REPORT_BYTES
        complete = True
        found: dict[str, dict[str, object]] = {}
        for rank, path in self._files():
            offset = self._offsets.get(rank, 0)
            raw = files.read_foreign(path, self._owner, offset, room + 1)
            lines = _whole_lines(raw, room)
            complete = complete and len(raw) <= room
            if lines:
                found[str(rank)] = {"offset": offset, "data": _text(lines)}
                room -= len(lines)
        return found, complete

    def acknowledge(self, offsets: dict[str, int]) -> None:
        """The server has recorded this much of each rank: the next lines are read from there."""
        for rank, offset in offsets.items():
            self._offsets[int(rank)] = offset

    def _files(self) -> list[tuple[int, str]]:
        if self._order.launcher != "torchrun":
            return [(rank.rank, self._path(rank.rank, "events.jsonl")) for rank in self._order.ranks]
        first = self._order.ranks[0].rank
        return [(rank.rank, self._path(first, f"events-{rank.rank}.jsonl")) for rank in self._order.ranks]

    def _path(self, rank: int, name: str) -> str:
        return os.path.join(self._directory, f"rank-{rank}", name)


def _whole_lines(raw: bytes, room: int) -> bytes:
    """Up to the last newline within `room`; a run of 64 KiB without any is let through as it is."""
    end = raw.rfind(b"\n", 0, room) + 1
    if not end and len(raw) >= _LONGEST_LINE:
        end = min(_LONGEST_LINE, room)
    return raw[:end]


def _text(lines: bytes) -> str:
    try:
        return lines.decode("utf-8")
    except UnicodeDecodeError:
        return lines.translate(_PLAIN).decode("ascii")
