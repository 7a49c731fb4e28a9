"""What `nvidia-smi` prints (table, csv, `-q`, XML, `nvlink`, `-L`, `dmon`) and the metrics of dcgm-exporter."""

from __future__ import annotations

import re

from headway.agent.printouts import boxes, columns, exposition, fields, outline, rows, values
from headway.agent.printouts.cards import Card
from headway.agent.probes.nvidia_log import read_log, read_xml
from headway.agent.probes.port import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_QUERY = (
    "index,name,pci.bus_id,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,"
    "ecc.errors.uncorrected.volatile.total,ecc.errors.corrected.volatile.total"
)
COMMAND = ("nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv")

_LOST = re.compile(
    r"unable to de\w+ the device handle for gpu\s*(?:(\d+)\s*:\s+)?([0-9a-f]{3,}:[0-9a-f]+:[0-9a-f.]+)?\s*:?\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_PIECE = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\d+|N/A)\s+(\d+)\s*\|\s*([^|]*?)\s*\|\s*(\S+)\s+(\S+)")
_QUANTITIES = (
    (r"_GPU_UTIL$", "utilisation_pct"),
    (r"_GPU_TEMP$", "temperature_c"),
    (r"_POWER_USAGE$", "power_w"),
    (r"_FB_USED$", "memory_used_mib"),
    (r"_FB_TOTAL$", "memory_total_mib"),
    (r"_FB_FREE$", "memory_free_mib"),
    (r"_FB_RESERVED$", "memory_reserved_mib"),
    (r"_MEMORY_TEMP$", "memory_temperature_c"),
    (r"_PIPE_TENSOR_ACTIVE$", "tensor_active"),
)
_COUNTERS = {
    r"_XID_ERRORS$": "last_xid",
    r"_ECC_SBE_VOL_TOTAL$": "ecc_corrected_volatile",
    r"_ECC_DBE_VOL_TOTAL$": "ecc_uncorrected_volatile",
    r"_ECC_SBE_AGG_TOTAL$": "ecc_corrected_aggregate",
    r"_ECC_DBE_AGG_TOTAL$": "ecc_uncorrected_aggregate",
    r"_RETIRED_SBE$": "retired_pages_single_bit",
    r"_RETIRED_DBE$": "retired_pages_double_bit",
    r"_RETIRED_PENDING$": "retired_pages_pending",
    r"_CORRECTABLE_REMAPPED_ROWS$": "remapped_rows_correctable",
    r"_UNCORRECTABLE_REMAPPED_ROWS$": "remapped_rows_uncorrectable",
    r"_ROW_REMAP_FAILURE$": "remapped_rows_failure",
    r"_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL$": "nvlink_crc_flit",
    r"_NVLINK_REPLAY_ERROR_COUNT_TOTAL$": "nvlink_replay",
    r"_NVLINK_RECOVERY_ERROR_COUNT_TOTAL$": "nvlink_recovery",
}


def parse(text: str) -> list[Card]:
    """The cards of the csv that `COMMAND` prints; a card that fell off keeps its line in the answer."""
    return _with_lost(rows.read(text), text)


def more(_cards: Sequence[Card]) -> list[tuple[Sequence[str], Callable[[str], list[Card]]]]:
    """What is asked beside the csv: whether the links between cards are up, and their errors."""
    return [(("nvidia-smi", "nvlink", flag), read_links) for flag in ("-s", "-e")]


def read_table(text: str) -> list[Card]:
    """The table without arguments, from the layout without a MIG row on."""
    table = boxes.read(text)
    found = []
    for row in table.cards:
        card = fields.card(row)
        mode = fields.find(row, r"^mig m")
        if mode in ("Enabled", "Disabled"):
            card.others["mig_mode"] = mode
        found.append(card)
    for piece in table.pieces:
        _add_piece(found, piece)
    fields.give_processes(found, table.processes)
    return _with_lost(found, text)


def read_exporter(text: str) -> list[Card]:
    """Metrics of dcgm-exporter."""
    found = exposition.cards(text, _QUANTITIES, _COUNTERS, ("gpu", "minor_number", "device"))
    for card in found:
        for key in ("memory_reserved_mib", "memory_temperature_c"):
            card.others.pop(key, None)
    return found


def read_links(text: str) -> list[Card]:
    """`nvlink -s` (speeds, `<inactive>`) and `nvlink -e` (errors), and the plain list of `-L`."""
    found = []
    for mark, rest in outline.split(text, r"^GPU (\d+)\s*: (.*?)(?: \(UUID: [^)]*\))?\s*$"):
        card = Card(int(mark.group(1)))
        card.take_name(mark.group(2))
        links: dict[int, dict[str, Any]] = {}
        for line in rest.splitlines():
            link = re.match(r"\s*Link (\d+)\s*:\s*(.*\S)", line)
            if link is not None:
                _add_link(card, links.setdefault(int(link.group(1)), {"link": int(link.group(1))}), link.group(2))
        if links:
            card.others["links"] = list(links.values())
        found.append(card)
    return _with_lost(found, text)


def _add_link(card: Card, link: dict[str, Any], text: str) -> None:
    error = re.match(r"(.*?)\s*Errors?\s*:\s*(\d+)", text)
    if error is not None:
        name = "nvlink_" + error.group(1).lower().replace(" ", "_")
        errors = card.errors or {}
        card.errors = {**errors, name: errors.get(name, 0) + int(error.group(2))}
        return
    speed = values.number(text)
    if speed is not None or "inactive" in text.lower():
        link.update(gb_per_s=speed, active=speed is not None)


def _add_piece(cards: list[Card], text: str) -> None:
    """One MIG instance's row."""
    found = _PIECE.match(text)
    if found is None:
        return
    gpu, instance, part, number, memory, units, ecc = found.groups()
    owner = next((card for card in cards if card.index == int(gpu)), None)
    if owner is None:
        return
    used, total = values.pair(memory)
    owner.others.setdefault("instances", []).append(
        {
            "gpu_instance": int(instance),
            "compute_instance": values.number(part),
            "mig_dev": int(number),
            "memory_used_mib": values.mebibytes(used),
            "memory_total_mib": values.mebibytes(total),
            "sm": values.number(units),
            "ecc_uncorrected_volatile": values.number(ecc),
        }
    )


def _with_lost(found: Sequence[Card], text: str) -> list[Card]:
    """The cards, and those that the tool names beside them only to say that it has lost them."""
    cards = list(found)
    for number, bus, why in _LOST.findall(text):
        place = bus.rstrip(":")
        card = next((one for one in cards if place and _same_place(one.others.get("bus"), place)), None)
        if card is None:
            card = Card(int(number) if number else None)
            cards.append(card)
        card.health = why.split(".")[0].strip()
        if place:
            card.others.setdefault("bus", place)
    return cards


def _same_place(bus: str | None, place: str) -> bool:
    return bus is not None and bus.lower().lstrip("0") == place.lower().lstrip("0")


READERS = (
    Reader("nvidia-smi-xml", r"<nvidia_smi_log>", read_xml),
    Reader("dcgm-exporter", r"^(?:DCGM_FI_|dcgm_)\w+", read_exporter),
    Reader("nvidia-smi", r"NVIDIA-SMI\s+\d|^\s*\|\s*GPU\s+Name\s.*\|", read_table),
    Reader("nvidia-smi-q", r"NVSMI LOG|^GPU [0-9A-Fa-f]{4,}:[0-9A-Fa-f]{2}:", read_log),
    Reader(
        "nvidia-smi-csv",
        r"^\d+, \S[^,\n]*(?:, [^,\n]*){2,}$|^(?:[\w.]+(?: \[[^\[\]]{0,64}\])?, ?)+[\w.]+(?: \[[^\[\]]{0,64}\])?\s*$",
        parse,
    ),
    Reader("nvidia-smi-nvlink", r"^GPU \d+\s*: .*\n\s+Link \d+", read_links),
    Reader("nvidia-smi-dmon", r"^# gpu\s+\w+", lambda text: [fields.card(row) for row in columns.read(text)]),
    Reader("nvidia-smi-list", r"^GPU \d+\s*: .*UUID|unable to determine the device handle", read_links),
)
