"""The port of every reading store, and the values that pass through it. It decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured value. `at` is aware and kept to the millisecond; the unit is part of `name` (`cpu_percent`)."""

    attempt: str
    node: str
    rank: int | None
    device: int | None
    name: str
    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured from `at` on until the next point. `mean` is NaN if any reading was; the bounds skip NaN."""

    at: datetime
    minimum: float
    mean: float
    maximum: float
    count: int


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity at one place over time, oldest point first."""

    attempt: str
    node: str
    rank: int | None
    device: int | None
    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class NodeMeans:
    """What a node measured at each moment of a grid, its cards or else its ranks together; None: nothing, or NaN."""

    node: str
    means: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """One quantity of many nodes over the same moments: means from one moment on until the next, nodes by name."""

    name: str
    at: tuple[datetime, ...]
    nodes: tuple[NodeMeans, ...]


class ReadingStore(Protocol):
    """Where readings are kept. Safe to use from many threads."""

    def add(self, rows: Sequence[Reading]) -> None:
        """Keep readings; the same reading again changes nothing. They survive a kill of the process."""
        ...

    def series(  # noqa: PLR0913
        self,
        attempt: str,
        name: str,
        *,
        node: str | None = None,
        rank: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        points: int = 500,
    ) -> list[Series]:
        """Return each place's readings of one name, both ends included, in at most `points` points of equal width.

        A series with no more readings than `points` is returned reading by reading. None for `node` or `rank`: any.
        """
        ...

    def grid(self, attempt: str, name: str, *, points: int = 240) -> Grid:
        """Return the means of each node's readings of one name, at no more than `points` moments.

        Where a node or its cards have the reading, that of its ranks is left out.
        """
        ...

    def names(self, attempt: str) -> list[str]:
        """Return the names that an attempt has readings of, sorted."""
        ...

    def latest(self, attempt: str) -> list[Reading]:
        """Return the newest reading of each series of an attempt."""
        ...

    def pack(self, attempt: str) -> None:
        """Store an ended attempt's readings as small as they get."""
        ...

    def prune(self, before: datetime) -> None:
        """Delete what was measured before a time; whole chunks at a time, so somewhat older ones may stay."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...
