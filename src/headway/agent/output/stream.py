"""One rank's output on its way: pipe, limits, spool. Counts what was kept and what was dropped.

Reads at most `_READ_BYTES_PER_S` and never waits: a rank that prints without end costs the agent a bounded share of a
core, and a rank that prints little is read at most 50 times a second.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from headway.agent.output.limit import Drop, Kept, Limiter
from headway.agent.output.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.order import LogLimits

_PIPE_BYTES = 1 << 20
_READ_BYTES_PER_S = 64 << 20
_PAUSE_S = 0.02
_LAST_READS = 16
_SET_PIPE_SIZE = 1031


class Stream:
    """What one rank wrote to stdout and stderr, in order of arrival. `clock`: monotonic; `at`: epoch seconds."""

    def __init__(self, rank: int, directory: str, limits: LogLimits) -> None:
        self.rank = rank
        self.spool = Spool(directory)
        self.closed = True
        self.fd = -1
        self.read_again_at = 0.0
        self._limiter = Limiter(limits, time.monotonic())
        self._refused = 0
        self.dropped: list[dict[str, Any]] = []

    def open(self) -> int:
        """Make the pipe; answers the end that the rank writes to, which the caller closes once the rank has it."""
        self.fd, write_end = os.pipe()
        with contextlib.suppress(OSError):  # this user's share of pipe memory is used up: the small pipe works too
            fcntl.fcntl(self.fd, _SET_PIPE_SIZE, _PIPE_BYTES)
        os.set_blocking(self.fd, False)
        self.closed = False
        return write_end

    def read(self, clock: float, at: float) -> int:
        """Take what the pipe holds, at most 1 MiB; the number of bytes, 0 when there are none now or ever again."""
        try:
            chunk = os.read(self.fd, _PIPE_BYTES)
        except BlockingIOError:
            return 0
        if not chunk:
            self.close(at)
            return 0
        self.read_again_at = clock + max(_PAUSE_S, len(chunk) / _READ_BYTES_PER_S)
        self._put(chunk, clock, at)
        return len(chunk)

    def tick(self, clock: float, at: float) -> None:
        """Time has passed: what was dropped may have to be said."""
        if not self.closed:
            self._put(b"", clock, at)

    def drain(self, clock: float, at: float) -> None:
        """Take what the pipe still holds, a few pipes full at most, and close."""
        for _ in range(_LAST_READS):
            if not self.read(clock, at):
                break
        self.close(at)

    def close(self, at: float) -> None:
        """Nothing more comes."""
        if self.closed:
            return
        os.close(self.fd)
        self.fd = -1
        self.closed = True
        self._keep(self._limiter.close(), at)

    def _put(self, chunk: bytes, clock: float, at: float) -> None:
        self._keep(self._limiter.feed(chunk, clock), at)

    def _keep(self, pieces: list[Kept], at: float) -> None:
        """Spool; what a full disk refuses is counted, and said in place as soon as there is room again."""
        for piece in pieces:
            if piece.drop is not None:
                self._record(piece.drop, at)
            try:
                self._say_refused(at)
                self.spool.append(piece.data, at)
            except OSError:
                self._refused += len(piece.data)
                self._record(Drop(len(piece.data), piece.data.count(b"\n"), "disk"), at)

    def _say_refused(self, at: float) -> None:
        if self._refused:
            text = f"\n[headway] dropped {self._refused} bytes: the node's disk refused them\n"
            self.spool.append(text.encode(), at)
            self._refused = 0

    def _record(self, drop: Drop, at: float) -> None:
        place = {"rank": self.rank, "from": self.spool.end, "t": at}
        self.dropped.append({**place, "bytes": drop.bytes, "lines": drop.lines, "why": drop.why})
