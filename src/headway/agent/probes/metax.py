"""What `mx-smi` prints: the table, the list of `-L`, and the sections of `--show-...`."""

from __future__ import annotations

import re

from headway.agent.printouts import boxes, exposition, fields, outline, values
from headway.agent.printouts.cards import Card
from headway.agent.probes import sections
from headway.agent.probes.port import Reader

COMMAND = ("mx-smi",)

_CARD = r"^[ \t]*GPU#(\d+)[ \t]+(\S.*?)[ \t]+([0-9A-Fa-f]{4}:[0-9A-Fa-f:.]+)[ \t]*(.*)$"
_METRICS = (
    (r"^(?:mx|metax)_(?:gpu_)?(?:usage|utili[sz]ation)(?:_percent)?$", "utilisation_pct"),
    (r"^(?:mx|metax)_(?:gpu_|chip_)?(?:hotspot_)?temp(?:erature)?(?:_celsius)?$", "temperature_c"),
    (r"^(?:mx|metax)_(?:gpu_)?(?:board_)?power(?:_watts)?$", "power_w"),
    (r"^(?:mx|metax)_(?:gpu_)?(?:vram|memory)_used(?:_bytes)?$", "memory_used_mib"),
    (r"^(?:mx|metax)_(?:gpu_)?(?:vram|memory)_total(?:_bytes)?$", "memory_total_mib"),
)
_COUNTERS = {
    r"^metax_gpu_ecc_memory_errors_total$": "ecc",
    r"^metax_gpu_ecc_memory_retired_pages_total$": "retired_pages",
}


def parse(text: str) -> list[Card]:
    """The table without arguments, with and without boards and states."""
    table = boxes.read(text)
    found = [fields.card(row) for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


def read_list(text: str) -> list[Card]:
    """`-L`: a line a card, with its state."""
    found = []
    for mark in re.finditer(_CARD, text, re.MULTILINE):
        card = _named(mark)
        card.health = mark.group(4).partition("(")[0].strip() or None
        found.append(card)
    return found


def read_shown(text: str) -> list[Card]:
    """`--show-...`: a section a card. The chip's hotspot is the card's temperature, the board's is told apart."""
    found = []
    for mark, rest in outline.split(text, _CARD):
        card = _named(mark)
        for path, value in outline.leaves(rest):
            plain = "/".join(re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in path)
            if plain.startswith("board_temp"):
                card.others.setdefault("board_temperature_c", values.number(value))
            else:
                sections.take(card, re.sub(r"_sensor\d+$", "", plain), value)
        found.append(card)
    return found


def _named(mark: re.Match[str]) -> Card:
    card = Card(int(mark.group(1)))
    card.take_name(mark.group(2))
    card.others["bus"] = mark.group(3)
    return card


READERS = (
    Reader(
        "mx-exporter",
        r"^(?:mx|metax)_\w+\{",
        lambda text: exposition.cards(text, _METRICS, _COUNTERS, ("gpu", "deviceId", "minor_number", "index")),
    ),
    Reader("mx-smi", r"^\s*\|\s*(?:GPU|Board)\s+Name", parse),
    Reader("mx-smi-list", r"^\s*GPU#\d+.*Available", read_list),
    Reader("mx-smi-temp", r"^\s*GPU#\d+[^\n]*\n(?:\s*\n)*\s+\S+ temperature", read_shown),
    Reader("mx-smi-shown", r"^\s*GPU#\d+", read_shown),
)
