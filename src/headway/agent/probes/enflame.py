"""What `efsmi` prints: the table (memory size only), and the outline of `efsmi -q`."""

from __future__ import annotations

from headway.agent.printouts import boxes, columns, exposition, fields
from headway.agent.printouts.cards import Card
from headway.agent.probes.port import Reader
from headway.agent.probes.sections import read_sections

COMMAND = ("efsmi", "-q")

_METRICS = (
    (r"^enflame_gcu_(?:usage|util\w*)$", "utilisation_pct"),
    (r"^enflame_gcu_temp\w*$", "temperature_c"),
    (r"^enflame_gcu_power\w*usage$|^enflame_gcu_power_consumption$", "power_w"),
    (r"^enflame_gcu_memory_used\w*$", "memory_used_mib"),
    (r"^enflame_gcu_memory_total\w*$", "memory_total_mib"),
)


def read_table(text: str) -> list[Card]:
    """The table without arguments."""
    table = boxes.read(text)
    found = [fields.card(row) for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


def parse(text: str) -> list[Card]:
    """The outline of `efsmi -q`."""
    return read_sections(text, r"^[ \t]*DEV(?:ICE)? ID[ \t]*:?[ \t]*(\d+)[ \t]*$")


READERS = (
    Reader(
        "gcu-exporter",
        r"^enflame_gcu_\w+",
        lambda text: exposition.cards(text, _METRICS, {}, ("index", "minor_number", "gcu", "device")),
    ),
    Reader("efsmi-q", r"^[ \t]*DEV(?:ICE)? ID[ \t]*:?[ \t]*\d+[ \t]*$", parse),
    Reader("efsmi-dmon", r"^\*Dev\s+\w+", lambda text: [fields.card(row) for row in columns.read(text)]),
    Reader("efsmi", r"EFSMI|^\s*\|\s*DEV\s+NAME", read_table),
)
