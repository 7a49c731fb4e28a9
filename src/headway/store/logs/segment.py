"""One segment file: walking its headers, a sparse index of them, and finding where a torn tail begins.

Reading never starts at the beginning of a file: the index holds one entry for about each 16 KiB, and from there headers
are walked by seeking over the compressed bytes. A damaged header is stepped over to the next sound one. Nothing here
writes.
"""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from headway.store.logs.frame import HEADER_BYTES, MAGIC, Record, decode, parse

SUFFIX = ".zst"
_INDEX_EVERY = 16 * 1024
_READ_BUFFER = 8 * 1024
_SEARCH_BLOCK = 64 * 1024


def open_file(path: Path) -> BinaryIO:
    """Open a segment for reading headers: a small buffer, because most of the file is jumped over."""
    return path.open("rb", buffering=_READ_BUFFER)


def walk(file: BinaryIO, position: int, end: int) -> Iterator[Record]:
    """Yield the sound records between two positions of a file; damage shows as a jump in their offsets."""
    while position + HEADER_BYTES <= end:
        file.seek(position)
        record = parse(file.read(HEADER_BYTES), position)
        if record is not None and record.next_position <= end:
            yield record
            position = record.next_position
        else:
            position = _find_magic(file, position + 1, end)


def content(file: BinaryIO, record: Record) -> bytes | None:
    """Return a record's bytes, or None when they are damaged."""
    file.seek(record.position + HEADER_BYTES)
    return decode(record, file.read(record.packed_length))


class Segment:
    """A segment file and what is known of it: the stream offsets it spans and a sparse index into it.

    `start` is the stream offset in its name, `stop` the one after its last record, `end` the file position there,
    `durable` the offset up to which its headers say that the stream was on disk.
    """

    def __init__(self, path: Path, start: int) -> None:
        self.path = path
        self.start = self.stop = self.durable = start
        self.end = 0
        self._offsets = array("Q")
        self._positions = array("Q")

    def take(self, record: Record) -> None:
        """Note a record that lies at the end of what is known so far."""
        if not self._positions or record.position - self._positions[-1] >= _INDEX_EVERY:
            self._offsets.append(record.offset)
            self._positions.append(record.position)
        self.stop, self.end = record.stop, record.next_position
        self.durable = max(self.durable, record.durable)

    def position_of(self, offset: int) -> int:
        """A file position at or before the record that holds this stream offset."""
        return self._positions[max(0, bisect_right(self._offsets, offset) - 1)] if self._positions else 0

    def pieces(self) -> list[tuple[int, int]]:
        """The file cut at every entry of the index: positions between which its records lie."""
        return list(pairwise([*self._positions, self.end]))


def load_whole(path: Path, start: int) -> Segment:
    """Index a segment that is followed by another one, and so was complete and on disk."""
    segment = Segment(path, start)
    with open_file(path) as file:
        for record in walk(file, 0, path.stat().st_size):
            segment.take(record)
    return segment


def load_tail(path: Path, start: int) -> Segment:
    """Index the newest segment up to the first byte that is not sound.

    What the headers say was on disk is kept even where it is damaged (reading tells); anything after is trusted only as
    far as it is in one piece and matches its checksums. `durable` is that mark, `end` where the torn tail begins.
    """
    segment = Segment(path, start)
    unsure: deque[Record] = deque()
    with open_file(path) as file:
        for record in walk(file, 0, path.stat().st_size):
            unsure.append(record)
            segment.durable = max(segment.durable, record.durable)
            while unsure and unsure[0].stop <= segment.durable:
                segment.take(unsure.popleft())
        for record in unsure:
            if record.offset > max(segment.stop, segment.durable) or content(file, record) is None:
                break
            segment.take(record)
    return segment


def _find_magic(file: BinaryIO, position: int, end: int) -> int:
    while position < end:
        file.seek(position)
        block = file.read(min(_SEARCH_BLOCK, end - position))
        found = block.find(MAGIC)
        if found >= 0:
            return position + found
        if len(block) < len(MAGIC):
            break
        position += len(block) - len(MAGIC) + 1
    return end
