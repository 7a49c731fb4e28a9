"""One rank's log of one attempt: taking bytes in order, writing them as frames, and saying what is durable.

Bytes wait in memory until a frame is full or `flush` is called; durable moves only after an fsync. No file is held open
between calls. Callers hold `lock` around every method except `flush`, which takes it itself so that a slow fsync never
holds up appends and reads.
"""

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.store.logs.disk import fsync, make_empty_file, write_at
from headway.store.logs.frame import MAX_FRAME_BYTES, encode
from headway.store.logs.segment import SUFFIX, Segment, load_tail, load_whole
from headway.store.logs.window import Span, Window

SEGMENT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ack:
    """How much of a stream the store has (`received`), and how much survives a crash of the machine (`durable`)."""

    received: int
    durable: int


class _Mark(NamedTuple):
    """How far the stream is on disk for good: its offset there, the count of segments, the position in the newest."""

    offset: int
    segments: int
    end: int


class Stream:
    """The log of one rank in one folder, its newest segment indexed and the others listed."""

    def __init__(self, folder: Path) -> None:
        self.lock = threading.Lock()
        self.dropped = False
        self.used_at = time.monotonic()
        self._folder = folder
        self._starts: list[int] = []
        self._old: list[Segment | None] = []
        self._tail = Segment(self._path(0), 0)
        self._pending = bytearray()
        self._first = self._last = 0
        self._durable = _Mark(0, 0, 0)
        self._loaded = self._writing = False

    def load(self) -> None:
        """Find the segments and how far the newest is sound, once; changes nothing on disk."""
        if self._loaded:
            return
        names = [path for path in self._folder.glob("*" + SUFFIX) if path.stem.isdigit()]
        self._starts = sorted(int(path.stem) for path in names)
        self._old = [None] * max(0, len(names) - 1)
        self._tail = load_tail(self._path(self._starts[-1]), self._starts[-1]) if names else Segment(self._path(0), 0)
        self._loaded = True

    @property
    def received(self) -> int:
        """The stream offset up to which bytes were taken."""
        return self._tail.stop + len(self._pending)

    @property
    def is_clean(self) -> bool:
        """Whether everything taken by this process is on disk for good."""
        return not self._writing or self._durable.offset == self.received

    @property
    def ack(self) -> Ack:
        """What to answer to an append."""
        return Ack(self.received, self._durable.offset)

    def append(self, offset: int, data: bytes, times: tuple[int, int]) -> None:
        """Take the bytes from `received` on; none if that left a gap. `times`: arrival of the first and last byte."""
        if not self._writing:
            self._begin_writing()
        self._write_full_frames()
        fresh = memoryview(data)[self.received - offset :] if offset <= self.received < offset + len(data) else b""
        if not fresh:
            return
        self._first = self._first if self._pending else times[0]
        self._last = times[1]
        self._pending += fresh
        self._write_full_frames()
        if len(self._pending) <= len(fresh):
            self._first = times[0]

    def flush(self) -> None:
        """Write what waits and make it durable. A failed fsync takes the stream back to what is surely on disk."""
        with self.lock:
            if self.dropped or self.is_clean:
                return
            self._write_frame(len(self._pending))
            path, mark = self._tail.path, self._here()
        try:
            fsync(path)
        except OSError:
            with self.lock:
                self._go_back()
            raise
        with self.lock:
            self._durable = max(self._durable, mark)

    def seal(self) -> None:
        """End the file with a record saying that all was durable, so that damage is never taken for a torn tail."""
        if self._writing and self.is_clean and self._tail.durable < self._tail.stop:
            self._put(b"")

    def window(self, offset: int, limit: int) -> Window:
        """Where the bytes from `offset` on lie, at most `limit` of them."""
        spans: list[Span] = []
        written = stop = self._tail.stop
        for number, (start, following) in enumerate(zip(self._starts, [*self._starts, written][1:], strict=True)):
            if following > offset and (start < offset + limit or not spans):
                found = self._segment(number)
                spans.append(Span(found.path, found.position_of(offset), found.end))
                stop = following
        skip = max(0, offset - written)
        pending = bytes(self._pending[skip : skip + limit]) if stop == written else b""
        return Window(tuple(spans), stop, pending)

    def pieces(self) -> list[Span]:
        """All that is written, cut at every entry of the index."""
        segments = [self._segment(number) for number in range(len(self._starts))]
        return [Span(one.path, *edges) for one in segments for edges in one.pieces()]

    def _here(self) -> _Mark:
        return _Mark(self._tail.stop, len(self._starts), self._tail.end)

    def _begin_writing(self) -> None:
        """Cut a torn tail, so that new records follow sound ones, and make sure of what was found."""
        if self._starts:
            os.truncate(self._tail.path, self._tail.end)
            fsync(self._tail.path)
            fsync(self._folder)
        else:
            self._begin_segment(0)
        self._durable = self._here()
        self._writing = True

    def _begin_segment(self, start: int) -> None:
        make_empty_file(self._path(start))
        self._tail = Segment(self._path(start), start)
        self._starts.append(start)

    def _roll(self) -> None:
        """Go on in a new segment; the old one is on disk before it has a successor."""
        full = self._tail
        fsync(full.path)
        self._durable = self._here()
        self._begin_segment(full.stop)
        self._old.append(full)
        self._durable = self._here()

    def _write_full_frames(self) -> None:
        while len(self._pending) >= MAX_FRAME_BYTES:
            self._write_frame(MAX_FRAME_BYTES)

    def _write_frame(self, length: int) -> None:
        if not length:
            return
        if self._tail.end >= SEGMENT_BYTES:
            self._roll()
        self._put(bytes(memoryview(self._pending)[:length]))
        del self._pending[:length]

    def _put(self, content: bytes) -> None:
        tail = self._tail
        record, encoded = encode(tail.stop, self._durable.offset, content, (self._first, self._last), tail.end)
        write_at(tail.path, encoded, tail.end)
        tail.take(record)

    def _go_back(self) -> None:
        """Forget what could not be made durable: the page cache may call it clean though the disk does not have it."""
        os.truncate(self._tail.path, self._durable.end)
        self._pending.clear()
        self._loaded = self._writing = False
        self.load()

    def _segment(self, number: int) -> Segment:
        if number == len(self._starts) - 1:
            return self._tail
        found = self._old[number] or load_whole(self._path(self._starts[number]), self._starts[number])
        self._old[number] = found
        return found

    def _path(self, start: int) -> Path:
        return self._folder / f"{start:016d}{SUFFIX}"
