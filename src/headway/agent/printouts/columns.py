"""Tables whose columns are parted by blanks: one line of labels, then a line a card that begins with its number."""

from __future__ import annotations

import re

from headway.agent.printouts import tokens

_HEAD = re.compile(
    r"^\s*[#*]?\s*(?:gpu|device|dcu|hcu|dev|card|xpu|mlu|npu ?id|npuid|gcu|id)\b(?!\[).*\s\S+.*\s\S", re.IGNORECASE
)


def read(text: str) -> list[dict[str, str]]:
    """A mapping from label to text for each card of each table in the print-out."""
    rows: list[dict[str, str]] = []
    labels: list[str] = []
    for line in text.splitlines():
        if (
            _HEAD.match(line)
            and ":" not in line.replace("[Model : Revision]", "")
            and not re.search(r"^\s*#?\s*\S+\s+\d", line)
        ):
            labels = tokens.labels(line.replace("#", " ").replace("*", " "))
        elif labels and re.match(r"\s*\d+(?:\s|$)", line):
            rows.append(tokens.align(labels, line))
        elif labels and re.match(r"\s*(?:[=+-]{6,})\s*$", line) and rows:
            labels = []
    return rows
