"""The words of `rocm-smi` and of `hy-smi`, which grew from it: columns, `GPU[0] : key: value` lines, JSON and csv."""

from __future__ import annotations

import csv
import json
import re

from headway.agent.printouts import columns, fields, values
from headway.agent.printouts.cards import Card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# The first that is printed with a value wins: of several sensors the edge is the card's temperature.
_KEYS = (
    (r"^card series$|^device name$|^product name$", "name"),
    (r"^card model$|^market(?:ing)? name$", "name"),
    (
        r"^(?:gpu|dcu|hcu|xcd)? ?use \(%\)$|^gpu activity|^(?:hcu|dcu|gpu)%$|^(?:hcu|dcu|gpu) utili[sz]ation",
        "utilisation_pct",
    ),
    (r"^vram total used memory|^used vram|^vram used", "memory_used_mib"),
    (r"^vram total memory|^total vram|^vram total\b(?! used)", "memory_total_mib"),
    (r"^temperature \(sensor edge\)|^temperature \(edge\)|^temperature \(c\)$|^temp(?:erature)?$", "temperature_c"),
    (r"^temperature \(sensor (?:core|junction|hotspot)\)|^temperature \((?:junction|hotspot|core)\)", "temperature_c"),
    (
        r"^average graphics package power|^current socket graphics package power|"
        r"^(?:average|current) (?:socket )?power|^avgpwr|^power\b(?!.*(?:cap|max))",
        "power_w",
    ),
    (
        r"^(?:gpu|dcu|hcu) memory use \(%\)|^(?:gpu|dcu|hcu) memory allocated \(vram%\)|^vram%$|^(?:dcu|hcu) memory%",
        "memory_used_pct",
    ),
    (r"^health", "health"),
)


def read_columns(text: str) -> list[Card]:
    """The concise table; the memory is a share only."""
    found = []
    for row in columns.read(text):
        card = fields.card(row)
        partition = fields.find(row, r"^partitions?")
        if partition and "," in partition:
            card.others["partition"] = re.sub(r",\s*", ", ", partition)
        found.append(card)
    return found


def read_lines(text: str) -> list[Card]:
    """`GPU[0] : key: value` lines of `--show...`."""
    cards: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        found = re.match(r"\s*(?:GPU|DCU|HCU|card)\s*\[?(\d+)\]?\s*:\s*(.*?)\s*:\s*(\S.*)$", line, re.IGNORECASE)
        if found is not None:
            cards.setdefault(found.group(1), []).append((found.group(2), found.group(3)))
    return [_card(index, pairs) for index, pairs in cards.items()]


def read_json(text: str) -> list[Card]:
    """`--json`: one object a card, cards in order of number."""
    content = _json(text)
    cards = {} if not isinstance(content, dict) else content
    found = [(re.search(r"\d+$", name), pairs) for name, pairs in cards.items() if isinstance(pairs, dict)]
    numbered = [(int(digits.group()), pairs) for digits, pairs in found if digits is not None]
    return [_card(str(number), _texts(pairs)) for number, pairs in sorted(numbered, key=lambda pair: pair[0])]


def read_csv(text: str) -> list[Card]:
    """`--csv`: a line of names that begins with `device`, then a line a card; lines before it are warnings."""
    names: list[str] = []
    found = []
    for cells in csv.reader(text.splitlines(), skipinitialspace=True):
        if cells and cells[0].strip().lower() in ("device", "card", "gpu", "hcu", "dcu"):
            names = [cell.strip() for cell in cells]
        elif names and len(cells) == len(names) and re.search(r"\d+\s*$", cells[0]):
            number = re.search(r"\d+", cells[0])
            pairs = zip(names[1:], (cell.strip() for cell in cells[1:]))  # noqa: B905 - Python 3.9
            found.append(_card(number.group() if number else "", pairs))
    return found


def _json(text: str) -> Any:
    start = text.find("{")
    try:
        return json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
    except ValueError:
        return None


def _texts(pairs: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((name, str(value)) for name, value in pairs.items())


def _card(index: str, pairs: Iterable[tuple[str, str]]) -> Card:
    card = Card(int(index) if index.isdigit() else None)
    known = list(pairs)
    for pattern, key in _KEYS:
        for name, text in known:
            if re.search(pattern, name.strip(), re.IGNORECASE):
                _take(card, key, name, text)
    return card


def _take(card: Card, key: str, name: str, text: str) -> None:
    unit = re.search(r"\(([KMG]?i?B)\)", name)
    if key == "health":
        card.health = text
    elif key == "memory_used_pct":
        # A share is worth telling only where the amounts are not told.
        if card.value("memory_used_mib") is None and not card.lacks(key, text):
            card.others[key] = values.number(text)
    elif key == "name":
        if card.name is None:
            card.take_name(text)
    elif unit is not None and values.number(text) is not None:
        card.take(key, f"{text} {unit.group(1)}")
    else:
        card.take(key, text)
