"""Slurm's way to write many hosts in one word: `n[1-3,07],login`. Pure."""

import re

_PART = re.compile(r"[^,\[\]]+|\[[^\]]*\]")


def expand(text: str) -> tuple[str, ...]:
    """Every host of a list, in its order; nothing for the words Slurm writes when there is none."""
    if text in ("", "(null)", "None assigned", "N/A"):
        return ()
    hosts: list[str] = []
    for entry in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        found = [""]
        for part in _PART.findall(entry):
            choices = _numbers(part[1:-1]) if part.startswith("[") else [part]
            found = [left + right for left in found for right in choices]
        hosts += found
    return tuple(hosts)


def _numbers(text: str) -> list[str]:
    numbers: list[str] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last or first) + 1)]
    return numbers
