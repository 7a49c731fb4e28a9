"""What `hl-smi` prints for Gaudi (table, csv), and `xpu-smi` for Intel's data centre GPUs (`dump`, `stats`)."""

from __future__ import annotations

import re

from headway.agent.printouts import boxes, fields, rows
from headway.agent.printouts.cards import Card
from headway.agent.probes.port import Reader

COMMAND = ("hl-smi",)

_STATS = (
    (r"^gpu utilization", "utilisation_pct"),
    (r"^gpu power", "power_w"),
    (r"^gpu core temperature", "temperature_c"),
    (r"^gpu memory used", "memory_used_mib"),
    (r"^device name", "name"),
)


def parse(text: str) -> list[Card]:
    """The table of `hl-smi`; a row of `N/A` among the processes says that there is none."""
    table = boxes.read(text)
    found = [fields.card(row) for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


def read_stats(text: str) -> list[Card]:
    """`xpu-smi stats -d N` and `discovery`: rows of a name and a value, a card from each `Device ID` on."""
    found: list[Card] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 2:
            continue
        number = cells[1] if cells[0].lower() == "device id" else cells[0]
        if number.isdigit():
            found.append(Card(int(number)))
        if found:
            _tell(found[-1], *cells)
    return found


def _tell(card: Card, name: str, value: str) -> None:
    if ":" in value:
        name, _, value = value.partition(":")
    key = next((key for pattern, key in _STATS if re.search(pattern, name, re.IGNORECASE)), None)
    if key is not None:
        card.take(key, value.strip())


READERS = (
    Reader("hl-smi", r"HL-SMI|^\s*\|\s*AIP\s+Name", parse),
    Reader("xpu-smi", r"Intel XPU-SMI|^\s*\|\s*GPU\s+Name", parse),
    Reader("xpu-smi-dump", r"^Timestamp,\s*DeviceId", rows.read),
    Reader("hl-smi-csv", r"^\d+, \S[^,\n]*(?:, [^,\n]*){2,}$|^(?:[\w.]+(?: \[[^\[\]]{0,64}\])?, ?)+[\w.]+", rows.read),
    Reader("xpu-smi", r"^\s*\|\s*Device ID\s*\|", read_stats),
)
