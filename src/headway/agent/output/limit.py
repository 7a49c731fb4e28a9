"""How much of a rank's output is kept: a rate with a burst, and a ceiling in all. Pure: a function of
bytes and a clock.

Where bytes are dropped a line says so in their place. Lines are kept or dropped whole where they are shorter than
64 KiB; a line that was begun may be finished beyond the rate, by 4 KiB at most. Counts are exact: every byte fed was
either kept or counted as dropped.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.agent.order import LogLimits

_GIANT_LINE = 64 << 10
_FINISH_BYTES = 4 << 10
_SAY_AGAIN_S = 60.0


class Drop:
    """Bytes that were dropped, the newlines among them, and why: "rate" or "total"."""

    __slots__ = ("bytes", "lines", "why")

    def __init__(self, dropped: int, lines: int, why: str) -> None:
        self.bytes = dropped
        self.lines = lines
        self.why = why


class Kept:
    """Bytes for the kept stream; where `drop` is set they are the line that stands in the place of what was dropped."""

    __slots__ = ("data", "drop")

    def __init__(self, data: bytes, drop: Drop | None = None) -> None:
        self.data = data
        self.drop = drop


class Limiter:
    """Decides, chunk by chunk, what of one stream is kept. `clock` is any clock in seconds that never goes back."""

    def __init__(self, limits: LogLimits, clock: float) -> None:
        self._limits = limits
        self._clock = clock
        self._allowance = float(limits.burst_bytes)
        self._kept = 0
        self._line_open = False
        self._why: str | None = None
        self._dropped = 0
        self._lines = 0
        self._drop_line = 0
        self._said_at = clock - _SAY_AGAIN_S

    def feed(self, chunk: bytes, clock: float) -> list[Kept]:
        """What to append to the kept stream for `chunk` (empty: time has passed)."""
        self._refill(clock)
        out: list[Kept] = []
        tick = not chunk
        while True:
            if self._why is not None:
                chunk = self._drop(chunk)
                resumes = self._recovered() and (bool(chunk) or not self._drop_line)
                if self._dropped and (resumes or self._may_speak(tick)):
                    self._speak(out)
                if not resumes:
                    break
                self._why = None
                self._drop_line = 0
            if chunk:
                chunk = self._keep(chunk, out)
            if self._why is None:
                break
        return out

    def close(self) -> list[Kept]:
        """The end of the stream: says what was dropped and not yet said."""
        out: list[Kept] = []
        if self._dropped:
            self._speak(out)
        return out

    def _refill(self, clock: float) -> None:
        passed = max(0.0, clock - self._clock)
        self._clock = max(clock, self._clock)
        full = float(self._limits.burst_bytes)
        self._allowance = min(full, self._allowance + passed * self._limits.bytes_per_s)

    def _keep(self, chunk: bytes, out: list[Kept]) -> bytes:
        """Keep what fits and answer the rest; a rest begins a drop."""
        left = self._limits.max_bytes - self._kept
        size = len(chunk)
        if size > left or size > self._allowance:
            budget = min(left, int(self._allowance))
            size = chunk.rfind(b"\n", 0, budget) + 1
            self._why = "total" if left <= self._allowance else "rate"
            if not size and budget >= _GIANT_LINE:
                size = budget
            elif not size and self._line_open and self._why == "rate":
                size = chunk.find(b"\n", 0, min(left, _FINISH_BYTES)) + 1
        if size:
            kept = chunk[:size] if size < len(chunk) else chunk
            out.append(Kept(kept))
            self._kept += size
            self._allowance -= size
            self._line_open = kept[-1:] != b"\n"
        return chunk[size:]

    def _drop(self, chunk: bytes) -> bytes:
        """Count what must go and answer what may be kept again, from the start of a line."""
        size = len(chunk)
        if self._recovered():
            newline = chunk.find(b"\n")
            if (self._dropped and not self._drop_line) or self._drop_line >= _GIANT_LINE:
                size = 0
            elif newline >= 0:
                size = newline + 1
        gone = chunk[:size]
        last = gone.rfind(b"\n")
        self._dropped += size
        self._lines += gone.count(b"\n")
        self._drop_line = size - last - 1 if last >= 0 else self._drop_line + size
        return chunk[size:]

    def _recovered(self) -> bool:
        level = min(self._limits.bytes_per_s, self._limits.burst_bytes)
        return self._why == "rate" and self._allowance >= level

    def _may_speak(self, tick: bool) -> bool:
        """Whether to say now what was dropped although the drop goes on."""
        if self._why == "rate":
            return tick and self._recovered()
        return self._clock >= self._said_at + _SAY_AGAIN_S

    def _speak(self, out: list[Kept]) -> None:
        """Write the line that stands in place of what was dropped."""
        if self._why == "rate":
            over = f"over {self._limits.bytes_per_s} bytes a second"
        else:
            over = f"over {self._limits.max_bytes} bytes in all"
        text = f"[headway] dropped {self._dropped} bytes ({self._lines} lines): {over}\n".encode()
        if self._line_open:
            text = b"\n" + text
        out.append(Kept(text, Drop(self._dropped, self._lines, self._why or "rate")))
        self._allowance -= len(text)
        self._line_open = False
        self._dropped = self._lines = 0
        self._said_at = self._clock
