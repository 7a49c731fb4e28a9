"""One accelerator card's readings, the same words for every maker, and the words printed where there is no value."""

from __future__ import annotations

NOT_AVAILABLE = frozenset({"N/A", "NA", "-", "[N/A]", "[Not Supported]", "Not Supported", "[Not Found]"})


class Card:
    """What a print-out said about one card; None: not printed or without a value, never 0.

    Units: percent, MiB, degrees Celsius, watts. `index` as the maker's tool counts.
    """

    __slots__ = (
        "health",
        "index",
        "memory_total_mib",
        "memory_used_mib",
        "name",
        "power_w",
        "temperature_c",
        "utilisation_pct",
    )

    def __init__(self, index: int | None, name: str | None) -> None:
        self.index = index
        self.name = name
        self.utilisation_pct: float | None = None
        self.memory_used_mib: float | None = None
        self.memory_total_mib: float | None = None
        self.temperature_c: float | None = None
        self.power_w: float | None = None
        self.health: str | None = None

    def readings(self) -> list[tuple[str, float]]:
        """The readings there are, by name."""
        values = {
            "device_utilisation_percent": self.utilisation_pct,
            "device_memory_used_bytes": _bytes(self.memory_used_mib),
            "device_memory_total_bytes": _bytes(self.memory_total_mib),
            "device_temperature_celsius": self.temperature_c,
            "device_power_watts": self.power_w,
        }
        return [(name, value) for name, value in values.items() if value is not None]


def number(text: str) -> float | None:
    """The number a field begins with (`24.87 W`, `56631/ 65536`, `84C`); None where it holds none."""
    text = text.strip()
    end = 0
    while end < len(text) and (text[end].isdigit() or text[end] == "." or (text[end] == "-" and not end)):
        end += 1
    try:
        return float(text[:end])
    except ValueError:
        return None


def _bytes(mib: float | None) -> float | None:
    return None if mib is None else mib * 1048576
