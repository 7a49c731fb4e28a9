"""Reads the table that `npu-smi info` prints: two rows a chip, in the layouts of one chip and of two chips a card.

Goes by separators and by the words of the head, not by columns: widths differ between versions, and a number wider
than its field eats the blank before it.
"""

from __future__ import annotations

from headway.agent.probes.cards import Card, number

COMMAND = ("npu-smi", "info")


def parse(text: str) -> list[Card]:
    """One card a chip. Its index is the physical id where one is printed, else the number of the NPU."""
    cards: list[Card] = []
    by_chip = False
    upper: list[str] | None = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3:
            if line.startswith("|") and "Process" in line:
                break
            continue
        if cells[0].startswith(("NPU", "Chip")):
            by_chip = by_chip or "Phy-ID" in cells[0]
            if "Process" in cells[1]:
                break
        elif upper is None:
            upper = cells
        else:
            cards.append(_card(upper, cells, by_chip))
            upper = None
    return cards


def _card(upper: list[str], lower: list[str], by_chip: bool) -> Card:
    npu, _, name = upper[0].partition(" ")
    place = lower[0].split()
    index = number(place[1] if by_chip and len(place) > 1 else npu)
    card = Card(None if index is None else int(index), name.strip() or None)
    card.health = upper[1]
    power, temperature = [*upper[2].split(), "", ""][:2]
    card.power_w = number(power)
    card.temperature_c = number(temperature)
    figures = lower[2].replace("/", " / ").split()
    card.utilisation_pct = number(figures[0]) if figures else None
    pairs = _pairs(figures[1:])
    if pairs:
        card.memory_used_mib, card.memory_total_mib = pairs[-1]
    return card


def _pairs(words: list[str]) -> list[tuple[float | None, float | None]]:
    """Every `used / total` in the row; the last one is the memory of the chip itself (HBM where it has it)."""
    return [
        (number(words[at - 1]), number(words[at + 1]))
        for at, word in enumerate(words)
        if word == "/" and 0 < at < len(words) - 1
    ]
