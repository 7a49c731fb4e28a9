"""What `npu-smi` prints: the table of `info`, the answers of `info -t`, and the metrics of npu-exporter.

The index is the physical id of the chip where one is printed; else the number of the NPU, with the chip's behind a
point where an NPU has several.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

from headway.agent.printouts import boxes, columns, exposition, fields, outline, values
from headway.agent.printouts.cards import Card
from headway.agent.probes.port import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

COMMAND = ("npu-smi", "info")

_HEAD = ("npu id", "chip count", "chip id", "total count", "card count")
_QUANTITIES = (
    (r"^ai ?core usage rate", "utilisation_pct"),
    (r"^(?:npu |chip )?temperature", "temperature_c"),
    (r"^(?:power dissipation|npu real-time power|real-time power|(?:chip )?power\()", "power_w"),
    (r"^hbm capacity", "memory_total_mib"),
    (r"^(?:hbm usage|hbm used)\(mb", "memory_used_mib"),
    (r"^(?:product name|chip name|npu name|name)\b", "name"),
)
_OTHERS = (
    (r"^hbm usage rate", "memory_used_pct"),
    (r"^hbm bandwidth usage rate", "memory_bandwidth_pct"),
    (r"^hbm temperature", "hbm_temperature_c"),
)
_ECC = (
    (r"single bit error count", "ecc_single_bit"),
    (r"double bit error count", "ecc_double_bit"),
    (r"single bit aggregate total err", "ecc_single_bit_aggregate"),
    (r"double bit aggregate total err", "ecc_double_bit_aggregate"),
    (r"single bit isolated pages", "isolated_pages_single"),
    (r"double bit isolated pages", "isolated_pages_double"),
)
_METRICS = (
    (r"^npu_chip_info_utilization$", "utilisation_pct"),
    (r"^npu_chip_info_overall_utilization$", "utilisation_pct"),
    (r"^npu_chip_info_temperature$", "temperature_c"),
    (r"^npu_chip_info_power$", "power_w"),
    (r"^npu_chip_info_hbm_used_memory$", "memory_used_mib"),
    (r"^npu_chip_info_hbm_total_memory$", "memory_total_mib"),
    (r"^npu_chip_info_used_memory$", "memory_used_mib"),
    (r"^npu_chip_info_total_memory$", "memory_total_mib"),
    (r"^npu_chip_info_health_status$", "health"),
)
_COUNTERS = {
    r"^npu_chip_info_error_code$": "error_code",
    r"^npu_chip_info_hbm_(?:ecc_)?single_bit_error_cnt$": "ecc_single_bit",
    r"^npu_chip_info_hbm_(?:ecc_)?double_bit_error_cnt$": "ecc_double_bit",
    r"^npu_chip_info_hbm_(?:ecc_)?total_single_bit_error_cnt$": "ecc_single_bit_aggregate",
    r"^npu_chip_info_hbm_(?:ecc_)?total_double_bit_error_cnt$": "ecc_double_bit_aggregate",
    r"^npu_chip_info_hbm_(?:ecc_)?single_bit_isolated_pages_cnt$": "isolated_pages_single",
    r"^npu_chip_info_hbm_(?:ecc_)?double_bit_isolated_pages_cnt$": "isolated_pages_double",
}


def parse(text: str) -> list[Card]:
    """The table of `npu-smi info`: two rows a chip, of one chip or of several a card."""
    table = boxes.read(text)
    chips_of = Counter(_npu_of(row) for row in table.cards)
    found = [_chip(row, chips_of) for row in table.cards]
    fields.give_processes(found, table.processes)
    return found


def _npu_of(row: dict[str, str]) -> str:
    return row.get("NPU") or row.get("NPU ID") or ""


def _chip(row: dict[str, str], chips_of: Counter[str]) -> Card:
    card = fields.card(row)
    npu, chip = values.number(_npu_of(row)), values.number(row.get("Chip", ""))
    card.others.update(npu=npu, chip=chip)
    own = fields.find(row, r"^(?:phy-id|device)$")
    if own is not None and values.number(own) is not None:
        card.index = int(values.number(own) or 0)
    elif chip is not None and chips_of[_npu_of(row)] > 1:
        card.index = f"{npu}.{chip}"
    else:
        card.index = None if npu is None else int(npu)
    return card


def read_answers(text: str) -> list[Card]:
    """What `npu-smi info -t ...` answers, several answers in one text included: one card a chip."""
    chips: dict[tuple[str | None, str | None], list[tuple[str, str]]] = {}
    several: set[str | None] = set()
    for npu, chip, count, leaves in _answers(text):
        chips.setdefault((npu, chip), []).extend(leaves)
        if count > 1:
            several.add(npu)
    return [_answered(npu, chip if npu in several else None, leaves) for (npu, chip), leaves in chips.items()]


def _answers(text: str) -> Iterator[tuple[str | None, str | None, float, list[tuple[str, str]]]]:
    """Each chip's lines: (NPU, chip, how many chips the NPU has, lines). `Chip ID` stands before or behind them."""
    npu = chip = None
    count: float = 1
    gathered: list[tuple[str, str]] = []
    leads = False
    for path, value in [*outline.leaves(text), (("NPU ID",), "")]:
        key = path[-1].lower()
        if key == "npu id":
            if gathered or leads:
                yield npu, chip, count, gathered
            npu, chip, count, gathered, leads = value, None, 1, [], False
        elif key == "chip count":
            count = values.number(value) or 1
        elif key == "chip id" and gathered and not leads:
            yield npu, value, count, gathered
            gathered = []
        elif key == "chip id":
            if gathered:
                yield npu, chip, count, gathered
            chip, gathered, leads = value, [], True
        elif key not in _HEAD:
            gathered.append((path[-1], value))


def _answered(npu: str | None, chip: str | None, leaves: list[tuple[str, str]]) -> Card:
    number = values.number(npu or "")
    card = Card(None if number is None else int(number) if chip is None else f"{number}.{chip}")
    has_hbm = any(key.lower().startswith("hbm") for key, _ in leaves)
    for key, text in leaves:
        _take_answer(card, key.lower(), text, has_hbm)
    return card


def _take_answer(card: Card, key: str, text: str, has_hbm: bool) -> None:
    if not has_hbm:
        key = re.sub(r"^(?:ddr|memory) ", "hbm ", key)
    quantity = next((name for pattern, name in _QUANTITIES if re.search(pattern, key)), None)
    other = next((name for pattern, name in _OTHERS if re.search(pattern, key)), None)
    counter = next((name for pattern, name in _ECC if key.startswith("hbm") and re.search(pattern, key)), None)
    if quantity is not None and text.lower() != "mcu":
        card.take(quantity, text)
    elif other is not None and not card.lacks(other, text):
        card.others[other] = values.number(text)
    elif counter is not None:
        card.count(counter, text)
    elif key in ("health status", "health", "healthy"):
        card.health = None if card.lacks("health", text) else text
    elif key == "error code" and not card.lacks("errors", text):
        known = (card.errors or {}).get("error_codes", [])
        codes = re.findall(r"[0-9A-Fa-f]{6,}", re.sub(r"0x", "", text))
        card.errors = {**(card.errors or {}), "error_codes": known + codes}


def more(cards: Sequence[Card]) -> list[tuple[Sequence[str], Callable[[str], list[Card]]]]:
    """What is asked beside the table, a command at a time: memory errors and error codes of every NPU."""
    chips: dict[int, list[Card]] = {}
    for card in cards:
        npu = card.others.get("npu")
        if isinstance(npu, int):
            chips.setdefault(npu, []).append(card)
    return [
        (("npu-smi", "info", "-t", kind, "-i", str(npu)), partial(_answers_of, known))
        for npu, known in chips.items()
        for kind in ("ecc", "health")
    ]


def _answers_of(known: Sequence[Card], text: str) -> list[Card]:
    """Answers about one NPU, its chips in their order: some answers do not name the NPU, none names the physical id."""
    found = read_answers(text)
    if len(found) != len(known):
        return []
    for card, asked in zip(found, known):  # noqa: B905 - Python 3.9
        card.index = asked.index
    return found


def read_vnpu(text: str) -> list[Card]:
    """A chip's vNPUs and what is free of it, from `npu-smi info -t info-vnpu`."""
    card = Card()
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if re.search(r"\bAICORE\b.*\bMemory\b", line, re.IGNORECASE):
            names = line.replace("|", " ").split()
            shares = next((row.replace("|", " ").split() for row in lines[at + 1 :] if re.search(r"\d+/\d+", row)), [])
            for name, share in zip(names, shares):  # noqa: B905 - Python 3.9
                _take_share(card, name.lower(), share)
    labels: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0].lower() == "vnpu id":
            labels = [cell.lower() for cell in cells]
        elif labels and len(cells) == len(labels) and cells[0].isdigit():
            card.others.setdefault("instances", []).append(_instance(dict(zip(labels, cells))))  # noqa: B905
    return [card]


def _take_share(card: Card, name: str, share: str) -> None:
    free, total = values.pair(share)
    words = {"aicore": ("aicore_free", "aicore_total"), "memory": ("memory_free_gib", "memory_total_gib")}.get(name)
    if words is not None:
        card.others[words[0]], card.others[words[1]] = values.number(free), values.number(total)


def _instance(row: dict[str, str]) -> dict[str, Any]:
    status = values.number(row.get("status", ""))
    return {
        "vnpu": int(row["vnpu id"]),
        "group": values.number(row.get("vgroup id", "")),
        "template": row.get("template name"),
        "status": status if status is not None else row.get("status"),
    }


def read_exporter(text: str) -> list[Card]:
    """Metrics of npu-exporter; HBM where the chip has it, else its DDR. Its process metrics tell MB by process."""
    found = exposition.cards(text, _METRICS, _COUNTERS, ("id", "npu_id", "phy_id"))
    for metric, labels, value in exposition.samples(text):
        if metric == "npu_chip_info_process_info" and labels.get("process_id", "").isdigit():
            owner = next((card for card in found if str(card.index) == labels.get("id")), None)
            if owner is not None:
                owner.processes = [*(owner.processes or []), {"pid": int(labels["process_id"]), "memory_mib": value}]
    return found


def read_watch(text: str) -> list[Card]:
    """The columns of `npu-smi info watch` and of `info -m`; a board's controller is no card."""
    rows = [row for row in columns.read(text) if "mcu" not in [word.lower() for word in row.values()]]
    found = [fields.card(row) for row in rows]
    for card, row in zip(found, rows):  # noqa: B905 - Python 3.9
        for label, key in (("npu id", "npu"), ("chip id", "chip")):
            number = values.number(next((word for name, word in row.items() if name.lower() == label), ""))
            if number is not None:
                card.others[key] = number
    return found


READERS = (
    Reader("npu-exporter", r"^npu_chip_info_\w+|^machine_npu_nums", read_exporter),
    Reader("npu-smi-vnpu", r"vnpu id\s*\|", read_vnpu),
    Reader("npu-smi", r"^\s*\|\s*NPU\s+(?:ID\s*\|\s*)?Name\s*\|", parse),
    Reader("npu-smi-watch", r"^\s*NpuID\(Idx\)|^\s*NPU ID\s+Chip ID\s", read_watch),
    Reader("npu-smi-ecc", r"(?:HBM|DDR) (?:Single|Double) Bit", read_answers),
    Reader("npu-smi-health", r"^\s*Health(?:y| Status)?\s*:", read_answers),
    Reader("npu-smi-usages", r"Usage Rate\(%\)\s*:", read_answers),
    Reader("npu-smi-memory", r"Capacity\(MB\)\s*:", read_answers),
    Reader("npu-smi-answer", r"^\s*(?:NPU ID|Chip ID)\s*:", read_answers),
)
