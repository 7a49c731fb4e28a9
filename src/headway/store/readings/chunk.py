"""A run of readings of one series as a small blob, with what can be said of it without unpacking.

Times become differences, then the bytes of times and values are grouped by their place within the number, so that zstd
finds what hardly changes. Pure: nothing here touches a database.
"""

import math
import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate
from operator import sub
from typing import NamedTuple

import zstandard

_LEVEL = 3
_WIDTH = 8
_SWAP = sys.byteorder == "big"


class Summary(NamedTuple):
    """What a run of readings amounts to. `total` is NaN if any value is; the bounds leave NaN out, unless all are."""

    size: int
    minimum: float
    total: float
    maximum: float


def summarize(values: Sequence[float]) -> Summary:
    """Sum up at least one value."""
    total = sum(values)
    if math.isnan(total):
        known = [value for value in values if not math.isnan(value)] or [math.nan]
        return Summary(len(values), min(known), total, max(known))
    return Summary(len(values), min(values), total, max(values))


def join(one: Summary | None, other: Summary) -> Summary:
    """The summary of both runs together."""
    if one is None:
        return other
    # A comparison with NaN is false, so a bound that is NaN (nothing known) gives way to the other.
    low = other.minimum if math.isnan(one.minimum) or other.minimum < one.minimum else one.minimum
    high = other.maximum if math.isnan(one.maximum) or other.maximum > one.maximum else one.maximum
    return Summary(one.size + other.size, low, one.total + other.total, high)


def pack(times: Sequence[int], values: Sequence[float]) -> bytes:
    """Return readings as a blob. `times`: milliseconds, ascending."""
    steps = array("q", [times[0], *map(sub, times[1:], times)])
    numbers = array("d", values)
    if _SWAP:
        steps.byteswap()
        numbers.byteswap()
    return zstandard.ZstdCompressor(level=_LEVEL).compress(_group(steps.tobytes()) + _group(numbers.tobytes()))


def unpack(blob: bytes) -> tuple[list[int], list[float]]:
    """Return the times and values of a blob."""
    content = zstandard.ZstdDecompressor().decompress(blob)
    half = len(content) // 2
    steps, numbers = array("q", _ungroup(content[:half])), array("d", _ungroup(content[half:]))
    if _SWAP:
        steps.byteswap()
        numbers.byteswap()
    return list(accumulate(steps)), numbers.tolist()


def _group(content: bytes) -> bytes:
    return b"".join(content[place::_WIDTH] for place in range(_WIDTH))


def _ungroup(content: bytes) -> bytes:
    count = len(content) // _WIDTH
    mixed = bytearray(len(content))
    for place in range(_WIDTH):
        mixed[place::_WIDTH] = content[place * count : (place + 1) * count]
    return bytes(mixed)
