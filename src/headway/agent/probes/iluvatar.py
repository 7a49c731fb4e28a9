"""What `ixsmi` prints: the table, csv, and `-q`."""

from __future__ import annotations

from headway.agent.printouts import boxes, exposition, fields, rows
from headway.agent.printouts.cards import Card
from headway.agent.probes.nvidia_log import read_log, read_xml
from headway.agent.probes.port import Reader

COMMAND = ("ixsmi",)

_METRICS = (
    (r"^ix_(?:gpu_)?utili[sz]ation$|^ix_gpu_util$", "utilisation_pct"),
    (r"^ix_(?:gpu_)?temperature$", "temperature_c"),
    (r"^ix_(?:gpu_)?power(?:_usage)?$", "power_w"),
    (r"^ix_mem(?:ory)?_used$", "memory_used_mib"),
    (r"^ix_mem(?:ory)?_total$", "memory_total_mib"),
)
_COUNTERS = {
    r"^ix_xid_errors$": "last_xid",
    r"^ix_ecc_sbe_vol_(?:status|total)$": "ecc_sbe",
    r"^ix_ecc_dbe_vol_(?:status|total)$": "ecc_dbe",
}


def parse(text: str) -> list[Card]:
    """The table without arguments."""
    table = boxes.read(text)
    found = [fields.card(row) for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


READERS = (
    Reader(
        "ix-exporter",
        r"^ix_\w+\{",
        lambda text: exposition.cards(text, _METRICS, _COUNTERS, ("gpu", "index", "device")),
    ),
    Reader("ixsmi-xml", r"<(?:ix|nvidia)_?smi_log>", read_xml),
    Reader("ixsmi", r"IX-ML|^\s*\|\s*GPU\s+Name", parse),
    Reader("ixsmi-q", r"SMI LOG|^GPU [0-9A-Fa-f]{4,}:", read_log),
    Reader("ixsmi-csv", r"^\d+, \S[^,\n]*(?:, [^,\n]*){2,}$|^(?:[\w.]+(?: \[[^\[\]]{0,64}\])?, ?)+[\w.]+", rows.read),
)
