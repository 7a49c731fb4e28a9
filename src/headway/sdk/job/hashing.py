"""The hashes a manifest may name, as `algorithm:hex`.

CRC-32 finds damage at memory speed; SHA-256 also tells content apart from content made to look like it.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import Callable, Dict, Optional, Union

BLOCK = 1 << 20
Block = Union[bytes, memoryview]


class Crc32:
    """CRC-32 as in zip and gzip, block by block."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, block: Block) -> None:
        self._value = zlib.crc32(block, self._value)

    def hexdigest(self) -> str:
        return f"{self._value:08x}"


class Sha256:
    """SHA-256, block by block."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def update(self, block: Block) -> None:
        self._digest.update(block)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


Running = Union[Crc32, Sha256]
_MADE: Dict[str, Callable[[], Running]] = {"crc32": Crc32, "sha256": Sha256}
ALGORITHMS = tuple(_MADE)


def begin(algorithm: str) -> Running:
    """A hash that has seen nothing yet; ValueError names an algorithm this program does not have."""
    made = _MADE.get(algorithm)
    if made is None:
        raise ValueError(f"hash algorithm {algorithm!r} is not known; known are {', '.join(ALGORITHMS)}")
    return made()


def algorithm_of(named: str) -> str:
    """`crc32` of `crc32:89abcdef`; ValueError unless it is known and as long as its hashes are."""
    algorithm, _, value = named.partition(":")
    if len(value) != len(begin(algorithm).hexdigest()) or value.strip("0123456789abcdef"):
        raise ValueError(f"{named!r} is not a hash")
    return algorithm


def hash_file(fd: int, algorithm: str, start: int = 0, running: Optional[Running] = None) -> str:
    """An open file from `start` to its end, added to `running` if given, as `algorithm:hex`."""
    running = running or begin(algorithm)
    while block := os.pread(fd, BLOCK, start):
        running.update(block)
        start += len(block)
    return f"{algorithm}:{running.hexdigest()}"
