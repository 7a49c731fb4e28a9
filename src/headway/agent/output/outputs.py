"""All output streams of a node, read as their pipes fill and at most as often as is worth it."""

from __future__ import annotations

import os
import selectors
import time

from headway.agent.output.stream import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from headway.agent.order import LogLimits

_NEVER = float("inf")


class Outputs:
    """The streams by rank. Times are monotonic seconds."""

    def __init__(
        self, ranks: Sequence[int], directory: str, limits: LogLimits, selector: selectors.BaseSelector
    ) -> None:
        spool = os.path.join(directory, "spool")
        self._selector = selector
        self.streams = {rank: Stream(rank, os.path.join(spool, f"rank-{rank}"), limits) for rank in ranks}
        self._paused: list[Stream] = []

    @property
    def due(self) -> float:
        """When a paused stream may be read again."""
        return min([stream.read_again_at for stream in self._paused], default=_NEVER)

    def open(self, rank: int) -> int:
        """The descriptor that a rank writes to."""
        stream = self.streams[rank]
        write_end = stream.open()
        self._listen(stream)
        return write_end

    def resume(self, now: float) -> None:
        """Listen again to the streams whose pause is over."""
        for stream in [stream for stream in self._paused if stream.read_again_at <= now]:
            self._paused.remove(stream)
            self._listen(stream)

    def close(self, now: float) -> None:
        """Nobody writes any more, or nobody should: take what is there and close."""
        self.resume(_NEVER)
        for stream in self.streams.values():
            if not stream.closed:
                self._selector.unregister(stream.fd)
                stream.drain(now, time.time())

    def drain_drops(self, now: float) -> list[dict[str, Any]]:
        """What was dropped since the last call."""
        drops: list[dict[str, Any]] = []
        for stream in self.streams.values():
            stream.tick(now, time.time())
            drops += stream.dropped
            stream.dropped = []
        return drops

    def ends(self) -> dict[str, int]:
        """How many bytes each stream has in all, where that is known."""
        return {str(rank): stream.spool.end for rank, stream in self.streams.items() if stream.spool.end}

    def _listen(self, stream: Stream) -> None:
        self._selector.register(stream.fd, selectors.EVENT_READ, lambda: self._read(stream))

    def _read(self, stream: Stream) -> None:
        self._selector.unregister(stream.fd)
        stream.read(time.monotonic(), time.time())
        if not stream.closed:
            self._paused.append(stream)
