"""What `amd-smi` prints (table, `monitor`, `metric` as text and JSON), `rocm-smi`, and the metrics exporter."""

from __future__ import annotations

import json
import re

from headway.agent.printouts import boxes, columns, exposition, fields, rows, values
from headway.agent.printouts.cards import Card
from headway.agent.probes import rocm
from headway.agent.probes.port import Reader
from headway.agent.probes.sections import read_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMAND = ("rocm-smi", "-a", "--json")
parse = rocm.read_json

_METRICS = (
    (r"^(?:amd_)?gpu_gfx_activity$|^(?:amd_)?gpu_gfx_utilization$", "utilisation_pct"),
    (r"^(?:amd_)?gpu_edge_temperature$", "temperature_c"),
    (r"^(?:amd_)?gpu_junction_temperature$", "temperature_c"),
    (r"^(?:amd_)?gpu_(?:package|average_package|socket)_power$|^(?:amd_)?gpu_power_usage$", "power_w"),
    (r"^(?:amd_)?gpu_used_vram$", "memory_used_mib"),
    (r"^(?:amd_)?gpu_total_vram$", "memory_total_mib"),
    (r"^(?:amd_)?gpu_health$", "health"),
)
_COUNTERS = {
    r"^(?:amd_)?gpu_ecc_correct_total$": "correctable",
    r"^(?:amd_)?gpu_ecc_uncorrect_total$": "uncorrectable",
}
# section, keys in order of preference, what it is
_SECTIONS = (
    ("usage", ("gfx_activity",), "utilisation_pct"),
    ("mem_usage", ("used_vram",), "memory_used_mib"),
    ("mem_usage", ("total_vram",), "memory_total_mib"),
    ("temperature", ("edge", "hotspot", "junction"), "temperature_c"),
    ("power", ("socket_power", "current_socket_power", "average_socket_power"), "power_w"),
)
# keys of `amd-smi monitor --json`, which has no sections
_FLAT = (
    ("power_usage", "power_w"),
    ("gpu_temperature", "temperature_c"),
    ("hotspot_temperature", "temperature_c"),
    ("gfx", "utilisation_pct"),
    ("gfx_util", "utilisation_pct"),
    ("vram_used", "memory_used_mib"),
    ("vram_total", "memory_total_mib"),
)


def read_table(text: str) -> list[Card]:
    """The boxed table of `amd-smi`: the card's number stands in the second row, its address in the first."""
    table = boxes.read(text)
    found = []
    for row in table.cards:
        card = fields.card(row, ecc="uncorrectable")
        partition = fields.find(row, r"^partition")
        if partition and not values.is_absent(partition):
            card.others["partition"] = partition
        found.append(card)
    fields.give_processes(found, table.processes)
    return found


def read_monitor(text: str) -> list[Card]:
    """The columns of `amd-smi monitor`."""
    return [fields.card(row) for row in columns.read(text)]


def read_metric(text: str) -> list[Card]:
    """The JSON of `amd-smi metric` (a list, or a list under `gpu_data`), with whole sections `N/A` where lost."""
    start = re.search(r"[\[{]", text)
    try:
        content: Any = json.JSONDecoder().raw_decode(text[start.start() :])[0] if start else []
    except ValueError:
        return []
    if isinstance(content, dict):
        content = next((part for part in content.values() if isinstance(part, list)), [content])
    return [_metric(part) for part in content if isinstance(part, dict) and "gpu" in part]


def _metric(part: dict[str, Any]) -> Card:
    index = values.number(str(part["gpu"]))
    card = Card(None if index is None else int(index))
    asic = part.get("asic")
    if isinstance(asic, dict):
        card.take_name(str(asic.get("market_name", "")))
    for section, keys, key in _SECTIONS:
        for text in _said(part.get(section), keys):
            card.take(key, text)
    _count(card, part.get("ecc"))
    for name, key in _FLAT:
        said = part.get(name)
        if isinstance(said, (str, int, float)) or (isinstance(said, dict) and "value" in said):
            card.take(key, _text(said))
    return card


def _said(section: Any, keys: tuple[str, ...]) -> list[str]:
    """What a section says under each of these keys; the section itself where it is a word instead of values."""
    if isinstance(section, str):
        return [section]
    if not isinstance(section, dict):
        return []
    return [_text(section[key]) for key in keys if key in section]


def _text(value: Any) -> str:
    return f"{value.get('value')} {value.get('unit', '')}".strip() if isinstance(value, dict) else str(value)


def _count(card: Card, section: Any) -> None:
    if isinstance(section, str):
        card.lacks("errors", section)
    elif isinstance(section, dict):
        for key, name in (("total_uncorrectable_count", "uncorrectable"), ("total_correctable_count", "correctable")):
            if key in section:
                card.count(name, str(section[key]))


READERS = (
    Reader("amd-smi", r"AMD-SMI\s+\d|^\s*\|\s*BDF\s", read_table),
    Reader("amd-smi-json", r"\"gpu\"\s*:\s*\d+", read_metric),
    Reader("rocm-smi-json", r"\{\s*\"(?:card|gpu)\s*\d+\"\s*:", rocm.read_json),
    Reader("rocm-smi", r"^\s*(?:GPU|Device)\s+(?:\[|Node|Temp|ID)", rocm.read_columns),
    Reader("rocm-smi-lines", r"^\s*GPU\s*\[\d+\]\s*:", rocm.read_lines),
    Reader("rocm-smi-csv", r"^\s*(?:device|card)\s*,", rocm.read_csv),
    Reader("amd-smi-csv", r"^\s*(?:gpu|timestamp)\s*,", rows.read),
    Reader("amd-smi-monitor", r"^\s*(?:GPU|#)\s+\w+", read_monitor),
    Reader("amd-smi-metric", r"^GPU: \d+\s*$", lambda text: read_sections(text, r"^GPU: (\d+)\s*$")),
    Reader(
        "device-metrics-exporter",
        r"^(?:amd_)?gpu_\w+\{",
        lambda text: exposition.cards(text, _METRICS, _COUNTERS, ("gpu_id",)),
    ),
)
