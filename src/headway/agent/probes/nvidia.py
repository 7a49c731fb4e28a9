"""Reads what `nvidia-smi --query-gpu=... --format=csv` prints, by the names in its first line."""

from __future__ import annotations

from headway.agent.probes.cards import Card, number

_COLUMNS = {
    "utilization.gpu": "utilisation_pct",
    "memory.used": "memory_used_mib",
    "memory.total": "memory_total_mib",
    "temperature.gpu": "temperature_c",
    "power.draw": "power_w",
}

COMMAND = ("nvidia-smi", f"--query-gpu=index,name,{','.join(_COLUMNS)}", "--format=csv")


def parse(text: str) -> list[Card]:
    """One card a row; rows that are shorter than the first line (a warning, a card that fell off) are left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    start = next((at for at, line in enumerate(lines) if line.startswith("index,")), None)
    if start is None:
        return []
    columns = [name.partition("[")[0].strip() for name in lines[start].split(",")]
    cards = []
    for line in lines[start + 1 :]:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(columns):
            continue
        row = dict(zip(columns, fields))  # noqa: B905 - Python 3.9
        index = number(row["index"])
        card = Card(None if index is None else int(index), row.get("name"))
        for column, attribute in _COLUMNS.items():
            setattr(card, attribute, number(row.get(column, "")))
        cards.append(card)
    return cards
