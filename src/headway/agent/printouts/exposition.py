"""Metrics as Prometheus exporters print them: name, labels, value, perhaps a time."""

from __future__ import annotations

import re

from headway.agent.printouts import values
from headway.agent.printouts.cards import Card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\d+)?\s*$")
_LABEL = re.compile(r'([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_BYTES_FROM = 1 << 24  # no card has 16 TiB: an amount of memory above this many MiB is in bytes


def samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Every sample: metric, labels, value."""
    for line in text.splitlines():
        found = None if line.startswith("#") else _SAMPLE.match(line)
        if found is None:
            continue
        try:
            value = float(found.group(3))
        except ValueError:
            continue
        labels = {name: word.replace('\\"', '"') for name, word in _LABEL.findall(found.group(2) or "")}
        yield found.group(1), labels, values.whole(value) if abs(value) < 2**53 and value == value else value


def cards(
    text: str,
    quantities: Sequence[tuple[str, str]],
    counters: Mapping[str, str],
    index_labels: Sequence[str],
    name_labels: Sequence[str] = ("modelName", "model_name", "model", "card_model", "name"),
) -> list[Card]:
    """One card an index label's value.

    `quantities`: (pattern of a metric's name, key); of several metrics of a key the first that is not 0 wins.
    """
    found: dict[str, Card] = {}
    ranked: dict[tuple[str, str], int] = {}
    for metric, labels, value in samples(text):
        place = next((labels[name] for name in index_labels if labels.get(name)), None)
        if place is None or value != value:
            continue
        card = found.setdefault(place, Card(_index(place)))
        card.name = card.name or next((labels[name] for name in name_labels if labels.get(name)), None)
        for rank, (pattern, key) in enumerate(quantities):
            if re.search(pattern, metric) and ranked.get((place, key), len(quantities)) >= rank:
                if value or (place, key) not in ranked:
                    _put(card, key, value)
                    ranked[(place, key)] = rank if value else len(quantities)
                break
        for pattern, name in counters.items():
            if re.search(pattern, metric):
                card.errors = {**(card.errors or {}), name: value}
    return list(found.values())


def _index(place: str) -> int | str:
    digits = re.search(r"\d+$", place)
    return int(digits.group()) if digits else place


def _put(card: Card, key: str, value: float) -> None:
    if key == "health":
        card.health = str(value)
    elif key in ("memory_used_mib", "memory_total_mib"):
        card.put(key, values.whole(value / 1048576) if value >= _BYTES_FROM else value)
    elif key in ("utilisation_pct", "temperature_c", "power_w"):
        card.put(key, value)
    else:
        card.others[key] = value
