"""Comma-separated values with a first line of names, as `--query-gpu ... --format=csv` prints them."""

from __future__ import annotations

import csv
import re

from headway.agent.printouts import values
from headway.agent.printouts.cards import Card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_COLUMNS = (
    (r"^(?:index|gpu|id|device ?id|deviceid|device|card|module_id|minor_number|序号)$", "index"),
    (r"^(?:name|gpu_name|product ?name|model|card series|device name)$", "name"),
    (
        r"^utili[sz]ation\.(?:gpu|aip|xpu|npu|dcu|mlu)|^(?:gpu|hcu|dcu|mlu|xpu|aip) (?:use|utilization)|"
        r"^gpu[-_ ]?util|^gpu利用率",
        "utilisation_pct",
    ),
    (r"^memory\.used|^fb\.used|^(?:gpu )?memory used|^vram total used|^mem(?:ory)?[-_ ]used", "memory_used_mib"),
    (r"^memory\.total|^fb\.total|^(?:gpu )?memory total|^vram total memory|^mem(?:ory)?[-_ ]total", "memory_total_mib"),
    (
        r"^temperature\.(?:gpu|aip|xpu|npu|core)|^temperature_gpu|^gpu (?:core )?temperature|^temperature$|^temp$",
        "temperature_c",
    ),
    (r"^power\.draw(?:\.average|\.instant)?$|^gpu power|^average graphics package power|^power$", "power_w"),
    (r"^(?:gpu )?memory use|^memory utili|^memory util|^(?:hcu|dcu|gpu) memory use", "memory_used_pct"),
    (r"^health|^status$", "health"),
    (r"^pci\.bus_id|^bus_id|^pci\.bus", "bus"),
)
_COUNTERS = (
    (r"^ecc\.errors\.uncorrected\.volatile\.total|^ecc errors uncorrected volatile", "ecc_uncorrected_volatile"),
    (r"^ecc\.errors\.corrected\.volatile\.total", "ecc_corrected_volatile"),
    (r"^ecc\.errors\.uncorrected\.aggregate\.total", "ecc_uncorrected_aggregate"),
    (r"^ecc\.errors\.corrected\.aggregate\.total", "ecc_corrected_aggregate"),
    (r"^retired_pages\.(?:sbe|single_bit_ecc\.count)", "retired_pages_single_bit"),
    (r"^retired_pages\.(?:dbe|double_bit\.count)", "retired_pages_double_bit"),
    (r"^retired_pages\.pending", "retired_pages_pending"),
    (r"^remapped_rows\.correctable", "remapped_rows_correctable"),
    (r"^remapped_rows\.uncorrectable", "remapped_rows_uncorrectable"),
    (r"^remapped_rows\.pending", "remapped_rows_pending"),
    (r"^remapped_rows\.failure", "remapped_rows_failure"),
)


def tables(text: str) -> Iterator[tuple[list[tuple[str, str]], list[str]]]:
    """Each row that is as long as the line of names before it: ((name, unit) of each column, texts)."""
    names: list[tuple[str, str]] = []
    for fields in csv.reader(text.splitlines(), skipinitialspace=True):
        cells = [field.strip() for field in fields]
        if len(cells) < 2:
            continue
        heads = [_head(cell) for cell in cells]
        if sum(_meaning(head) is not None for head, _ in heads) >= 2 and not re.match(r"\d+$", cells[0]):
            names = heads
        elif len(cells) == len(names):
            yield names, cells


def read(text: str) -> list[Card]:
    """One card a row; rows of another length than the names (a warning, a card that fell off) are left out."""
    found = []
    for names, cells in tables(text):
        card = Card()
        for (name, unit), cell in zip(names, cells):  # noqa: B905 - Python 3.9
            _take(card, name, unit, cell)
        if card.index is not None or card.name is not None or "bus" in card.others:
            found.append(card)
    return _latest(found) or _nameless(text)


def _nameless(text: str) -> list[Card]:
    """Rows without a line of names (`noheader`): the index first, the rest as far as its units tell what it is."""
    found = []
    for cells in csv.reader(text.splitlines(), skipinitialspace=True):
        if len(cells) < 3 or not re.match(r"\d+$", cells[0].strip()):
            return []
        card = Card(int(cells[0]))
        amounts = [cell for cell in cells[1:] if values.unit(cell) in ("mib", "mb")]
        for cell in cells[1:]:
            unit = values.unit(cell)
            if unit == "%":
                card.take("utilisation_pct", cell)
            elif unit == "w":
                card.take("power_w", cell)
            elif unit in ("c", "°c"):
                card.take("temperature_c", cell)
            elif values.number(cell) is None and len(cell.split()) > 1 and not values.is_error(cell):
                card.name = card.name or cell.strip()
        if len(amounts) == 2:
            card.take("memory_used_mib", min(amounts, key=lambda cell: values.number(cell) or 0))
            card.take("memory_total_mib", max(amounts, key=lambda cell: values.number(cell) or 0))
        found.append(card)
    return found


def _latest(cards: list[Card]) -> list[Card]:
    """A tool that prints every second repeats its cards: the last word counts."""
    newest: dict[object, Card] = {}
    for at, card in enumerate(cards):
        newest[card.index if card.index is not None else card.others.get("bus", f"row {at}")] = card
    return list(newest.values())


def _head(cell: str) -> tuple[str, str]:
    """The name of a column and its unit: `memory.used [MiB]`, `GPU Power (W)`."""
    found = re.match(r"(.*?)\s*[\[(]([^\])]*)[\])]\s*$", cell)
    return (found.group(1), found.group(2)) if found else (cell, "")


def _meaning(name: str) -> str | None:
    return next((key for pattern, key in (*_COLUMNS, *_COUNTERS) if re.search(pattern, name, re.IGNORECASE)), None)


def _take(card: Card, name: str, unit: str, cell: str) -> None:
    key = _meaning(name)
    if key is None or not cell:
        return
    if key in dict((name, None) for _, name in _COUNTERS):
        _count(card, key, cell)
    elif key == "index":
        digits = re.search(r"\d+$", cell)
        card.index = int(digits.group()) if digits else card.index
    elif key in ("health", "bus"):
        if key == "health":
            card.health = cell
        else:
            card.others[key] = cell
    elif key == "memory_used_pct":
        if not card.lacks(key, cell):
            card.others[key] = values.number(cell)
    elif key.startswith("memory") and not values.unit(cell) and unit:
        card.take(key, f"{cell} {unit}" if values.number(cell) is not None else cell)
    else:
        card.take(key, cell)


def _count(card: Card, key: str, cell: str) -> None:
    if cell.lower() in ("yes", "no"):
        card.errors = {**(card.errors or {}), key: cell.lower() == "yes"}
    elif values.number(cell) is not None:
        card.count(key, cell)
    elif values.is_error(cell) or (key == "ecc_uncorrected_volatile" and values.is_absent(cell)):
        card.lacks("errors", cell)
