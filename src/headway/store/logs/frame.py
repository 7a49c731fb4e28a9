"""One record of a log segment: a zstd skippable frame that says what follows, then an ordinary zstd frame.

`zstd -d` skips the first and so reads a segment like any other file. The header carries its own checksum, begun with
the record's position, so that a header copied into a log line is never taken for one. A record without bytes is a seal:
it only says how far the file was known to be on disk. Nothing here opens files.
"""

import struct
import threading
import zlib
from typing import NamedTuple

import zstandard

MAGIC = b"\x5a\x2a\x4d\x18"
LEVEL = 3
_FIELDS = struct.Struct("<QQIIqqI")
_CRC = struct.Struct("<I")
_LEAD = MAGIC + struct.pack("<I", _FIELDS.size + _CRC.size)
HEADER_BYTES = len(_LEAD) + _FIELDS.size + _CRC.size
MAX_FRAME_BYTES = 256 * 1024

_thread = threading.local()


class Record(NamedTuple):
    """What a header says. `durable`: all bytes of the stream before it were on disk when this was written.

    Times are microseconds since the epoch; `position` is the header's place in the segment file.
    """

    offset: int
    durable: int
    length: int
    packed_length: int
    first: int
    last: int
    crc: int
    position: int

    @property
    def stop(self) -> int:
        """The stream offset after its bytes."""
        return self.offset + self.length

    @property
    def next_position(self) -> int:
        """Where the next record begins in the file."""
        return self.position + HEADER_BYTES + self.packed_length


def encode(offset: int, durable: int, content: bytes, times: tuple[int, int], position: int) -> tuple[Record, bytes]:
    """Return the record of `content` for this position of a segment file, and its bytes; empty content makes a seal."""
    packed = _compressor().compress(content) if content else b""
    record = Record(offset, durable, len(content), len(packed), *times, zlib.crc32(content), position)
    fields = _FIELDS.pack(*record[:-1])
    return record, b"".join((_LEAD, fields, _CRC.pack(_header_crc(fields, position)), packed))


def parse(header: bytes, position: int) -> Record | None:
    """Return the record whose header these bytes are, or None if they are not an undamaged header of this position."""
    if len(header) != HEADER_BYTES or not header.startswith(_LEAD):
        return None
    fields = header[len(_LEAD) : -_CRC.size]
    if _CRC.unpack(header[-_CRC.size :])[0] != _header_crc(fields, position):
        return None
    return Record._make((*_FIELDS.unpack(fields), position))


def decode(record: Record, packed: bytes) -> bytes | None:
    """Return the record's bytes, or None when they are damaged."""
    if record.length > MAX_FRAME_BYTES or len(packed) != record.packed_length:
        return None
    if not record.length:
        return b""
    try:
        content = _decompressor().decompress(packed, max_output_size=record.length)
    except zstandard.ZstdError:
        return None
    intact = len(content) == record.length and zlib.crc32(content) == record.crc
    return content if intact else None


def _header_crc(fields: bytes, position: int) -> int:
    return zlib.crc32(fields, position & 0xFFFFFFFF)


def _compressor() -> zstandard.ZstdCompressor:
    """One per thread: they are not safe to share, and costly to make for every frame."""
    if not hasattr(_thread, "compressor"):
        _thread.compressor = zstandard.ZstdCompressor(level=LEVEL)
    found: zstandard.ZstdCompressor = _thread.compressor
    return found


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_thread, "decompressor"):
        _thread.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _thread.decompressor
    return found
