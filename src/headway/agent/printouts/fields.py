"""The words that heads of tables use, whoever made the tool, and how a row of them becomes a card.

A label says what a field is; which of two memories is the card's own (HBM before DDR) is decided here.
"""

from __future__ import annotations

import re

from headway.agent.printouts import tokens, values
from headway.agent.printouts.cards import Card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_INDEX = (
    r"^phy-?id$|^chip phy-?id$",
    r"^chip logic id$",
    r"^(?:hip-id)?gpu(?: ?id)?$|^卡号$",
    r"^(?:xpu|aip|card|dev|dev ?id|device|id|idx|index|mlu|dcu|hcu|gcu|设备)(?: ?id)?$",
)
_LATE_INDEX = (r"^board$", r"^npu(?: ?id)?$|^npuid.*$")
_WORDS = {
    "name": r"^(?:name|gpu-?name|dev name|device name|product name|card name|chip name|card series|model|名称|型号)$",
    "utilisation_pct": r"^(?:gpu|xpu|aip|mlu|gcu|dcu|hcu|npu|gfx|dev)[-_ ]?(?:uti|util|%)|^util|^%(?:gpu|xpu|mlu)"
    r"|^use ?rate|^ai-?core|^ai core|^dused|"
    r"^gfx%|^sm$|^利用率|^使用率|^gpu利用率",
    "temperature_c": r"^temp|^(?:gpu|gcu|mlu|npu|xpu|core|hotspot|junction|edge)[-_ ]?temp|^[gd]temp$|^t\.?edge|^温度",
    "power_w": r"^pwr|^power|^avgpwr|^功[耗率]",
    "memory_used_pct": r"^(?:vram|mem|memory|hbm)%|^mused$|^mem(?:ory)?\(%\)|^显存%",
    "health": r"^health|^state$|^(?:gpu|card|dev|device|chip)-?(?:state|status|health)$|^健康",
    "ecc": r"ecc(?! mode)|^uec$|uncor",
    "bus": r"^bus-?id|^bdf$|^pcie?$",
}
_MEMORY = (
    r"^hbm[-_ ]?usage",
    r"^(?:memory|mem|vram|fb|gpu|显存)[-_ ]?(?:usage|使用)|^mem(?:ory)?$|^mem(?:ory)?\(m|^显存$",
)
_USED, _TOTAL = r"^vram[-_]?used|^mem(?:ory)?[-_]?used", r"^vram[-_]?total|^mem(?:ory)?[-_]?total"
_POWER_LIMITS = re.compile(r"^pwrcap|^power ?cap|^pwr ?cap|上限", re.IGNORECASE)
_PROCESS_MEMORY = (r"^vram_mem$", r"memory|^mem|usage|显存")


def index_of(row: Mapping[str, str]) -> int | str | None:
    """The number that the tool gives a card; the chip's own before the board's."""
    for pattern in (*_INDEX, *_LATE_INDEX):
        text = find(row, pattern)
        found = None if text is None else values.number(text)
        if found is not None:
            return int(found)
    return None


def find(row: Mapping[str, str], pattern: str) -> str | None:
    """The text under the first label that fits a pattern."""
    return next((word for label, word in row.items() if re.search(pattern, label, re.IGNORECASE)), None)


def card(row: Mapping[str, str], ecc: str = "ecc_uncorrected_volatile") -> Card:
    """A card from a row of labels and texts. `ecc`: the name of the counter that this maker's ECC column shows."""
    found = Card(index_of(row))
    for key, pattern in _WORDS.items():
        text = find({name: word for name, word in row.items() if not _POWER_LIMITS.search(name)}, pattern)
        if text is None or not text.strip():
            continue
        if key == "ecc":
            found.count(ecc, text) if not _is_mode(text) else None
        elif key == "health":
            found.health = text.strip()
        elif key == "bus":
            found.others["bus"] = text.strip()
        elif key == "memory_used_pct":
            if not found.lacks(key, text):
                found.others[key] = values.number(text)
        else:
            found.take(key, values.pair(text)[0] if key == "power_w" else text)
    _take_memory(found, row)
    return found


def _is_mode(text: str) -> bool:
    """`On`, `Enable`, `On-die, EDC`: whether there is ECC, not how many errors."""
    return text.strip()[:1].isalpha() and not values.is_absent(text) and not values.is_error(text)


def _take_memory(found: Card, row: Mapping[str, str]) -> None:
    used, total = find(row, _USED), find(row, _TOTAL)
    if used is not None or total is not None:
        found.take("memory_used_mib", used or "")
        found.take("memory_total_mib", total or "")
        return
    texts = [_amounts(text) for text in (find(row, pattern) for pattern in _MEMORY) if text]
    if not texts:
        return
    best = next((text for text in texts if values.number(_parts(text)[1]) not in (None, 0)), texts[0])
    first, second = _parts(best)
    if second:
        found.take_pair("memory_used_mib", "memory_total_mib", f"{first}/{second}")
    elif values.number(first) is not None:
        found.take("memory_total_mib", first)
    else:
        for key in ("memory_used_mib", "memory_total_mib"):
            found.lacks(key, first)


def _amounts(text: str) -> str:
    """The word with a slash in it, where others stand before it (`0%   11MB / 4799MB`)."""
    return next((word for word in tokens.words(text) if values.pair(word)[1]), text)


def _parts(text: str) -> tuple[str, str]:
    """`used / total`, or `used(total)`; one number alone is the size."""
    inside = re.match(r"\s*([^(]*)\(([^)]*)\)", text)
    return (inside.group(1), inside.group(2)) if inside else values.pair(text)


def give_processes(cards: Iterable[Card], rows: Iterable[Mapping[str, str]] | None) -> None:
    """Hand each card its processes: none where the tool has a section for them; None where it says nothing."""
    if rows is None:
        return
    known = list(cards)
    for one in known:
        one.processes = []
    for row in rows:
        pid = values.number(find(row, r"pid|process id|进程号") or "")
        if pid is None:
            continue
        owner = _owner(known, row)
        if owner is not None and owner.processes is not None:
            owner.processes.append(_process(int(pid), row))


def _owner(cards: list[Card], row: Mapping[str, str]) -> Card | None:
    """The card a process row names: by chip where cards have several, else by number."""
    place = tuple(values.number(find(row, pattern) or "") for pattern in (r"^npu", r"^chip"))
    if None not in place:
        by_chip = next((one for one in cards if (one.others.get("npu"), one.others.get("chip")) == place), None)
        if by_chip is not None:
            return by_chip
    number = index_of(row)
    return next((one for one in cards if one.index == number), None)


def _process(pid: int, row: Mapping[str, str]) -> dict[str, Any]:
    text = next((text for text in (find(row, pattern) for pattern in _PROCESS_MEMORY) if text is not None), "")
    found: dict[str, Any] = {"pid": pid, "memory_mib": values.mebibytes(text)}
    name = find(row, r"name|command|进程名")
    if name:
        found["name"] = name
    return found
