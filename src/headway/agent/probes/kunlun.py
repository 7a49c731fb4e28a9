"""What `xpu-smi` (`xpu_smi`) prints: the table, and the positional rows of `-m`."""

from __future__ import annotations

import re
import shlex

from headway.agent.printouts import boxes, fields, values
from headway.agent.printouts.cards import Card
from headway.agent.probes.nvidia_log import read_log
from headway.agent.probes.port import Reader

COMMAND = ("xpu-smi", "-m")

_BUS = r"^[0-9A-Fa-f]{4,}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d\s+\d+\s+\d+\s"
_MILLIWATTS_FROM = 2000  # K200 prints mW, P800 W; no card draws two kilowatts


def read_table(text: str) -> list[Card]:
    """The table without arguments; the row of the L3 is not the card's memory."""
    table = boxes.read(text)
    found = [fields.card(row) for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


def parse(text: str) -> list[Card]:
    """Rows of `-m`: address, number, ..., temperature (5th), power (9th), L3 (16th), memory (18th), load (20th)."""
    found = []
    for line in text.splitlines():
        if not re.match(_BUS, line.strip()):
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            words = line.replace('"', " ").split()
        if len(words) >= 20 and (values.number(words[19]) or 0) <= 100:  # else a row of other columns
            found.append(_card(words))
    return found


def _card(words: list[str]) -> Card:
    card = Card(int(words[1]) if words[1].isdigit() else None)
    card.others["bus"] = words[0]
    card.take("temperature_c", words[4])
    power = values.number(words[8])
    card.take("power_w", words[8] if power is None or power < _MILLIWATTS_FROM else f"{words[8]} mW")
    card.take("memory_used_mib", words[17])
    card.take("memory_total_mib", words[18])
    card.take("utilisation_pct", words[19])
    if not card.lacks("l3_used_mib", words[15]):
        card.others["l3_used_mib"] = values.number(words[15])
    name = next((word for word in words[20:] if re.search(r"[A-Za-z]", word) and ":" not in word), None)
    card.take_name(name or "")
    return card


READERS = (
    Reader("xpu_smi-m", _BUS, parse),
    Reader("xpu-smi", r"XPU-SMI|^\s*\|\s*XPU\s+Name|^\s*\|\s*DevID\s*\|", read_table),
    Reader(
        "xpu-smi-q",
        r"SMI LOG|^XPU [0-9A-Fa-f]{4,}:",
        lambda text: read_log(re.sub(r"^XPU (?=[0-9A-Fa-f]{4,}:)", "GPU ", text, flags=re.MULTILINE)),
    ),
)
