"""What `mthreads-gmi` prints: the table, whose rows have inner rules only, and the outline of `-q`."""

from __future__ import annotations

import re

from headway.agent.printouts import boxes, exposition, fields
from headway.agent.printouts.cards import Card
from headway.agent.probes.port import Reader
from headway.agent.probes.sections import read_sections

COMMAND = ("mthreads-gmi",)

_METRICS = (
    (r"^(?:musa|mt|mthreads)_(?:gpu_)?(?:util\w*|usage)$", "utilisation_pct"),
    (r"^(?:musa|mt|mthreads)_(?:gpu_)?temp\w*$", "temperature_c"),
    (r"^(?:musa|mt|mthreads)_(?:gpu_)?power\w*$", "power_w"),
    (r"^(?:musa|mt|mthreads)_(?:gpu_)?(?:fb|mem|memory)_used\w*$", "memory_used_mib"),
    (r"^(?:musa|mt|mthreads)_(?:gpu_)?(?:fb|mem|memory)_total\w*$", "memory_total_mib"),
)
_KIND = re.compile(r"^device type$", re.IGNORECASE)


def parse(text: str) -> list[Card]:
    """The table without arguments."""
    table = boxes.read(text)
    found = []
    for row in table.cards:
        card = fields.card(row)
        kind = next((word for label, word in row.items() if _KIND.match(label)), None)
        if kind:
            card.others["device_type"] = kind.split()[0]
        found.append(card)
    fields.give_processes(found, table.processes)
    return found


READERS = (
    Reader(
        "mt-exporter",
        r"^(?:musa|mt|mthreads)_\w+\{",
        lambda text: exposition.cards(text, _METRICS, {}, ("gpu", "index", "id")),
    ),
    Reader("mthreads-gmi-q", r"^GPU\s?\d+\s.*\n\s+\S.*:", lambda text: read_sections(text, r"^GPU\s?(\d+)\b.*$")),
    Reader("mthreads-gmi", r"mthreads-gmi\s*:|^ID\s+Name\s*\|", parse),
)
