"""When a stream's bytes arrived, read from the headers of its records: no line is decompressed.

Decides which headers are worth reading, so that a log of any length costs about as much. Knows nothing of lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from headway.store.logs.segment import open_file, walk
from headway.store.logs.window import Span

HEADERS = 8_000
"""How many are read at most, whatever the length of the log."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Arrival:
    """At this moment the stream had this many bytes."""

    at: datetime
    offset: int


Knot = tuple[int, int]


def arrivals(pieces: Sequence[Span], points: int) -> list[Arrival]:
    """How a stream grew, as a line through knots: one about each `1 / points` of its time or of its bytes.

    Where not all headers can be read, stretches between those that were count as written evenly.
    """
    return [Arrival(_EPOCH + timedelta(microseconds=at), offset) for at, offset in _thinned(_knots(pieces), points)]


def _knots(pieces: Sequence[Span]) -> list[Knot]:
    """Microseconds and offsets at both ends of records: a few of every so manyth piece, the last piece whole."""
    step = -(-len(pieces) // HEADERS) or 1
    chosen = pieces[:-1:step]
    each = HEADERS // max(1, len(chosen))
    spans = [*((span, each) for span in chosen), *((span, HEADERS) for span in pieces[-1:])]
    found: list[Knot] = []
    for at, offset in (knot for span, most in spans for knot in _of_span(span, most)):
        found.append((max(at, found[-1][0]) if found else at, offset))
    return found


def _of_span(span: Span, most: int) -> Iterator[Knot]:
    with open_file(span.path) as file:
        for record in islice(walk(file, span.position, span.end), most):
            if record.length:
                yield record.first, record.offset
                yield record.last, record.stop


def _thinned(knots: Sequence[Knot], points: int) -> Iterator[Knot]:
    if not knots:
        return
    (began, _), (ended, size) = knots[0], knots[-1]
    wide, tall = (ended - began) / points, size / points
    kept = before = knots[0]
    yield kept
    for knot in knots[1:]:
        if knot[0] - kept[0] > wide or knot[1] - kept[1] > tall:
            if before != kept and knot[0] - before[0] > wide:
                yield before
            kept = knot
            yield kept
        before = knot
    if kept != knots[-1]:
        yield knots[-1]
