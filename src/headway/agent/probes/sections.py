"""Cards told as outlines, a section each, in words that most makers share (`FB Memory Usage / Total : 16384MiB`)."""

from __future__ import annotations

import re

from headway.agent.printouts import outline, values
from headway.agent.printouts.cards import Card

_OTHER_MEMORY = re.compile(r"bar1|system|gtt|xtt|virtual|cache|l3|retired|ecc|conf|visible")
_PATHS = (
    (
        r"(?:^|/)(?:product_name|dev_name|device_name|card_name|card_model|market_name|board_name|model|名称|型号)$",
        "name",
    ),
    (
        r"(?:util\w*|usage\w*|使用率|利用率)/(?:gpu|mlu|gcu|aip|xpu|npu|dcu|hcu|gfx|mlu_average|average)$",
        "utilisation_pct",
    ),
    (r"(?:^|/)(?:gpu|mlu|gcu|aip|xpu|npu|gfx|ai_?core)_(?:util\w*|usage|activity)$|^gpu$|利用率$", "utilisation_pct"),
    (
        r"(?:mem|fb|vram|hbm|显存).*/(?:\w*_)?used(?:_size|_vram)?$|/mem_usage$|(?:^|/)(?:vis_)?vram_used$",
        "memory_used_mib",
    ),
    (r"(?:^|/)used_vram$|显存已用$", "memory_used_mib"),
    (
        r"(?:mem|fb|vram|hbm|显存).*/(?:\w*_)?total(?:_size|_vram)?$|/mem_size$|(?:^|/)(?:vis_)?vram_total$",
        "memory_total_mib",
    ),
    (r"(?:^|/)total_vram$|显存总量$", "memory_total_mib"),
    (
        r"temp\w*/(?:gpu|gcu|mlu|aip|xpu|npu|board|chip|core|edge|current|average)(?:_current)?(?:_temp\w*)?$|"
        r"(?:^|/)(?:gcu|gpu|mlu|chip|core)_(?:current_)?temp(?:erature)?$|^temperature$|温度$",
        "temperature_c",
    ),
    (r"temp\w*/(?:hotspot|junction)\w*$", "temperature_c"),
    (
        r"power\w*/(?:cur_power|(?:\w*_)?power_draw|usage|draw|current|total|\w*socket_power|power_usage|board_power)$|"
        r"^(?:power_draw|power_usage|power)$|功[耗率]$",
        "power_w",
    ),
)
_COUNTERS = (
    (r"(?:^|/)(?:total_)?dbe$|double_bit\w*/total$", "double_bit"),
    (r"(?:^|/)(?:total_)?sbe$|single_bit\w*/total$", "single_bit"),
    (r"total_uncorrectable_count$|^ecc\w*/uncorrectable\w*$", "uncorrectable"),
    (r"total_correctable_count$|^ecc\w*/correctable\w*$", "correctable"),
)


def read_sections(text: str, start: str) -> list[Card]:
    """One card for every match of `start`, whose first group is its number."""
    found = []
    for mark, rest in outline.split(text, start):
        card = Card(_index(mark.group(1)))
        for path, value in outline.leaves(rest):
            take(card, "/".join(re.sub(r"\W+", "_", name.lower()).strip("_") for name in path), value)
        found.append(card)
    return found


def take(card: Card, path: str, text: str) -> None:
    """Read one value into the card, if its path is known."""
    key = next((key for pattern, key in _PATHS if re.search(pattern, path)), None)
    if key is not None and key.startswith("memory") and _OTHER_MEMORY.search(path):
        return
    counter = next((name for pattern, name in _COUNTERS if re.search(pattern, path)), None)
    if key is not None:
        card.take(key, text)
    elif counter is not None and values.number(text) is not None:
        card.count(counter, text)
    elif re.search(r"(?:^|/)health(?:_status|_state)?$", path):
        card.health = None if card.lacks("health", text) else text


def _index(text: str) -> int | str:
    digits = re.search(r"\d+$", text)
    return int(digits.group()) if digits else text
