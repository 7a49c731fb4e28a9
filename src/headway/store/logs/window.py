"""A stretch of a stream: where it lies, and reading it without a lock while the stream goes on growing.

Damage is told, never papered over: sound bytes before it are returned first, and a read that begins in it raises
`Damage`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from headway.store.logs.frame import Record
from headway.store.logs.segment import content, open_file, walk


class Span(NamedTuple):
    """The part of a segment file between two positions."""

    path: Path
    position: int
    end: int


class Window(NamedTuple):
    """Records in files up to stream offset `stop`, then bytes that are still in memory."""

    spans: tuple[Span, ...]
    stop: int
    pending: bytes


class Damage(Exception):
    """The stream cannot be read from here on; it goes on at offset `until`."""

    def __init__(self, until: int) -> None:
        super().__init__(until)
        self.until = until


def read(window: Window, offset: int, limit: int) -> bytes:
    """Return the bytes from `offset` on: at most `limit`, fewer at the stream's end or before damage."""
    found = bytearray()
    cursor = offset
    for file, record in _records(window.spans):
        if record.stop <= cursor:
            continue
        if len(found) >= limit:
            break
        piece = content(file, record) if record.offset <= cursor else None
        if piece is None:
            return _before_damage(found, record.offset if record.offset > cursor else record.stop)
        found += memoryview(piece)[cursor - record.offset :]
        cursor = record.stop
    if len(found) < limit and cursor < window.stop:
        return _before_damage(found, window.stop)
    found += window.pending
    return bytes(memoryview(found)[:limit])


def _before_damage(found: bytearray, until: int) -> bytes:
    if not found:
        raise Damage(until)
    return bytes(found)


def _records(spans: tuple[Span, ...]) -> Iterator[tuple[BinaryIO, Record]]:
    for span in spans:
        with open_file(span.path) as file:
            for record in walk(file, span.position, span.end):
                yield file, record
