"""What `cnmon` prints: the table, the outline of `cnmon info`, and the metrics of mlu-exporter."""

from __future__ import annotations

import re

from headway.agent.printouts import boxes, exposition, fields
from headway.agent.printouts.cards import Card
from headway.agent.probes.port import Reader
from headway.agent.probes.sections import read_sections

COMMAND = ("cnmon",)

# The columns VF and MI print a lone slash where a card is not split.
_NOT_SPLIT = re.compile(r"^(\s*\|\s*\d+\s+)/(?=\s)", re.MULTILINE)
_METRICS = (
    (r"^mlu_utilization$|^mlu_board_utilization$", "utilisation_pct"),
    (r"^mlu_(?:chip_|board_)?temperature$", "temperature_c"),
    (r"^mlu_(?:board_)?power(?:_usage)?$", "power_w"),
    (r"^mlu_(?:physical_)?memory_used$", "memory_used_mib"),
    (r"^mlu_(?:physical_)?memory_total$", "memory_total_mib"),
    (r"^mlu_health$", "health"),
)


def parse(text: str) -> list[Card]:
    """The table of `cnmon`, with and without a bus id, in any of its modes."""
    table = boxes.read(_NOT_SPLIT.sub(r"\1N/A", text))
    found = [fields.card(row, ecc="ecc") for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


def read_exporter(text: str) -> list[Card]:
    """Metrics of mlu-exporter."""
    return exposition.cards(text, _METRICS, {r"^mlu_ecc\w*error\w*$": "ecc"}, ("mlu", "slot", "id", "card"))


READERS = (
    Reader("mlu-exporter", r"^mlu_\w+\{", read_exporter),
    Reader("cnmon", r"CNMON|^\s*\|\s*Card\s+V?F?", parse),
    Reader("cnmon-info", r"^Card \d+\s*$", lambda text: read_sections(text, r"^Card (\d+)\s*$")),
)
