"""Free devices of one pool, node by node, and where a gang fits among them.

Decides which nodes a gang takes: whole gangs on distinct nodes, best fit, within one topology domain if one has room.
It never looks at the order of the queue.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

PART = 1 << 40
"""Added to the index of a node that is partly taken, so that among equals a wholly free one comes first."""

Limits = Mapping[int, int]
"""The most devices one job may take on some nodes; nodes that are absent have no such limit."""


class Pool:
    """Devices of one type under one engine. Nodes are numbered by name; those that are not up have no free devices."""

    __slots__ = (
        "all_sizes",
        "buckets",
        "device_type",
        "devices",
        "domains",
        "engine",
        "free",
        "free_devices",
        "sizes",
        "up",
        "up_sizes",
    )

    def __init__(self, device_type: str, engine: str, sizes: Sequence[int], up: Sequence[bool]) -> None:
        self.device_type = device_type
        self.engine = engine
        self.sizes = sizes
        self.up = up
        self.domains: Sequence[str] | None = None
        self.all_sizes = Counter(sizes)
        self.up_sizes = Counter(size for size, is_up in zip(sizes, up, strict=True) if is_up)
        self.devices = sum(size for size, is_up in zip(sizes, up, strict=True) if is_up)
        self.free = [size if is_up else 0 for size, is_up in zip(sizes, up, strict=True)]
        self.free_devices = self.devices
        self.buckets: list[list[int]] = [[] for _ in range(max(sizes, default=0) + 1)]
        self.settle(())

    def copy(self) -> "Pool":
        """A pool that changes apart from this one."""
        twin = object.__new__(Pool)
        twin.device_type, twin.engine, twin.sizes, twin.up = self.device_type, self.engine, self.sizes, self.up
        twin.all_sizes, twin.up_sizes = self.all_sizes, self.up_sizes
        twin.domains, twin.devices, twin.free_devices = self.domains, self.devices, self.free_devices
        twin.free = self.free[:]
        twin.buckets = [bucket[:] for bucket in self.buckets]
        return twin

    def give(self, spots: Iterable[tuple[int, int]]) -> None:
        """Devices of these nodes, which are up, are free."""
        free, sizes, buckets = self.free, self.sizes, self.buckets
        for node, devices in spots:
            before = free[node]
            free[node] = after = before + devices
            self.free_devices += devices
            if before:
                del buckets[before][bisect_left(buckets[before], node + PART)]
            insort(buckets[after], node if after == sizes[node] else node + PART)

    def take(self, spots: Iterable[tuple[int, int]]) -> None:
        """Devices of these nodes are free no longer."""
        free, sizes, buckets = self.free, self.sizes, self.buckets
        for node, devices in spots:
            before = free[node]
            free[node] = after = before - devices
            self.free_devices -= devices
            bucket = buckets[before]
            del bucket[bisect_left(bucket, node if before == sizes[node] else node + PART)]
            if after:
                insort(buckets[after], node + PART)

    def settle(self, spots: Iterable[tuple[int, int]]) -> None:
        """Take devices of many nodes at once."""
        for node, devices in spots:
            self.free[node] -= devices
            self.free_devices -= devices
        for bucket in self.buckets:
            bucket.clear()
        for node, count in enumerate(self.free):
            if count:
                self.buckets[count].append(node if count == self.sizes[node] else node + PART)
        for bucket in self.buckets:
            bucket.sort()

    def able(self, wanted: int) -> int:
        """How many nodes have `wanted` devices free."""
        return sum(map(len, self.buckets[wanted:]))

    def with_free(self, wanted: int) -> list[int]:
        """The nodes with `wanted` devices free."""
        return [value % PART for bucket in self.buckets[wanted:] for value in bucket]

    def could_fit(self, nodes: int, wanted: int, *, every: bool = False) -> bool:
        """Whether a gang would fit if nothing else ran, on the nodes that are up, or on every node."""
        counts = self.all_sizes if every else self.up_sizes
        return sum(count for size, count in counts.items() if size >= wanted) >= nodes

    def fit(self, nodes: int, wanted: int, limits: Limits | None = None) -> list[int] | None:
        """The nodes for a gang of `wanted` devices on each of `nodes` nodes; None if it does not fit."""
        if nodes == 1 or self.domains is None:
            chosen = self._first(nodes, wanted) if limits is None else [*islice(self._fitting(wanted, limits), nodes)]
            return chosen if len(chosen) == nodes else None
        able = list(self._fitting(wanted, limits))
        return self._together(able, nodes) if len(able) >= nodes else None

    def by_free(self) -> Iterator[int]:
        """Nodes that are up, the most free first, then by name."""
        for bucket in reversed(self.buckets[1:]):
            yield from sorted(value % PART for value in bucket)
        yield from (node for node, count in enumerate(self.free) if not count and self.up[node])

    def _first(self, nodes: int, wanted: int) -> list[int]:
        chosen: list[int] = []
        for bucket in self.buckets[wanted:]:
            if bucket:
                chosen += bucket[: nodes - len(chosen)]
                if len(chosen) == nodes:
                    break
        return [value % PART for value in chosen]

    def _fitting(self, wanted: int, limits: Limits | None) -> Iterator[int]:
        for bucket in self.buckets[wanted:]:
            for value in bucket:
                node = value % PART
                if limits is None or limits.get(node, wanted) >= wanted:
                    yield node

    def _together(self, able: Sequence[int], nodes: int) -> list[int]:
        """In the domain that the gang fills best; else in as few as possible, fullest first."""
        assert self.domains is not None
        sizes = Counter(self.domains[node] for node in able)
        holding = [(count, domain) for domain, count in sizes.items() if count >= nodes]
        if holding:
            _, best = min(holding)
            return [node for node in able if self.domains[node] == best][:nodes]
        members: dict[str, list[int]] = defaultdict(list)
        for node in able:
            members[self.domains[node]].append(node)
        order = sorted(members, key=lambda domain: (-len(members[domain]), domain))
        return [node for domain in order for node in members[domain]][:nodes]
