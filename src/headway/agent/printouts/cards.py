"""One accelerator card as a print-out shows it, the same words for every maker. Never turns a missing value into 0.

The keys are those of `headway-agent read-probe`: see docs/protocol.md §5.
"""

from __future__ import annotations

from headway.agent.printouts import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_READ: dict[str, Callable[[str], float | None]] = {
    "utilisation_pct": values.percent,
    "memory_used_mib": values.mebibytes,
    "memory_total_mib": values.mebibytes,
    "temperature_c": values.celsius,
    "power_w": values.watts,
}
KEYS = ("index", "name", *_READ, "health", "errors", "processes")
READINGS = {
    "utilisation_pct": ("device_utilisation_percent", 1.0),
    "memory_used_mib": ("device_memory_used_bytes", 1048576.0),
    "memory_total_mib": ("device_memory_total_bytes", 1048576.0),
    "memory_used_pct": ("device_memory_used_percent", 1.0),
    "temperature_c": ("device_temperature_celsius", 1.0),
    "power_w": ("device_power_watts", 1.0),
}


class Card:
    """What a print-out said about one card; None: not printed, or printed without a value.

    `unreadable`: printed as an error; `not_available`: printed as `N/A` or the like. `others`: what only some print.
    """

    __slots__ = ("_values", "errors", "health", "index", "name", "not_available", "others", "processes", "unreadable")

    def __init__(self, index: int | str | None = None, name: str | None = None) -> None:
        self.index = index
        self.name = name
        self._values: dict[str, float | None] = dict.fromkeys(_READ)
        self.health: str | None = None
        self.errors: dict[str, Any] | None = None
        self.processes: list[dict[str, Any]] | None = None
        self.unreadable: set[str] = set()
        self.not_available: set[str] = set()
        self.others: dict[str, Any] = {}

    def value(self, key: str) -> float | None:
        """One of the five quantities."""
        return self._values[key]

    def put(self, key: str, value: float | None) -> None:
        """Set a quantity that is a number already."""
        self._values[key] = value

    def take(self, key: str, text: str) -> None:
        """Read a printed field into a quantity, or note why it has none. A quantity that is known stays."""
        if key == "name":
            self.take_name(text)
        elif self._values[key] is None and not self.lacks(key, text):
            self._values[key] = _READ[key](text)
            self.not_available.discard(key)
            self.unreadable.discard(key)

    def take_name(self, text: str) -> None:
        """The model as printed."""
        if text.strip() and not self.lacks("name", text):
            self.name = text.strip()

    def take_pair(self, used: str, total: str, text: str) -> None:
        """Read `a / b` into two quantities; an empty `total` is not read."""
        first, second = values.pair(text)
        self.take(used, first)
        if total and second:
            if values.unit(second) and not values.unit(first) and values.number(first) is not None:
                self._values[used] = None
                self.take(used, first + " " + values.unit(second))
            self.take(total, second)

    def count(self, name: str, text: str) -> None:
        """Read an error counter; a word that is neither a number nor an error (`On`) says nothing about errors."""
        found = values.number(text)
        if found is not None:
            self.errors = {**(self.errors or {}), name: found}
        else:
            self.lacks("errors", text)

    def lacks(self, key: str, text: str) -> bool:
        """Whether the field says that there is no value; noted under `key`."""
        if values.is_error(text):
            self.unreadable.add(key)
            return True
        if values.is_absent(text):
            self.not_available.add(key)
            return True
        return False

    def as_json(self) -> dict[str, Any]:
        """The card in the schema of `read-probe`."""
        found: dict[str, Any] = {"index": self.index, "name": self.name, **self._values, "health": self.health}
        found.update(errors=self.errors, processes=self.processes)
        for key in ("unreadable", "not_available"):
            words = getattr(self, key)
            if words:
                found[key] = [name for name in KEYS if name in words] + sorted(words - set(KEYS))
        found.update(self.others)
        return found

    def readings(self) -> list[tuple[str, float]]:
        """The readings there are, by the protocol's names."""
        known: Mapping[str, Any] = {**self.others, **self._values}
        found = [
            (name, float(known[key] * factor))
            for key, (name, factor) in READINGS.items()
            if isinstance(known.get(key), (int, float))
        ]
        links = self.others.get("links")
        if links:
            found += [
                ("device_links", float(len(links))),
                ("device_links_up", float(sum(bool(one.get("active")) for one in links))),
            ]
        counters = (self.errors or {}).items()
        return found + [
            (f"device_error_{name}", float(count)) for name, count in counters if isinstance(count, (int, float))
        ]
