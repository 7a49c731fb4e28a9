"""Tables drawn with `|` and rules: a head of several rows, then as many rows a card, then perhaps the processes.

Goes by separators and by the words of the head, never by columns: widths differ between versions, and a number wider
than its field eats the blank before it.
"""

from __future__ import annotations

import re

from headway.agent.printouts import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Cells = list[str]  # the cells of one line
_RULE = re.compile(r"^(?=.*[-=~+_*]{3})[-=~+_|*\s]{6,}$|^\s*\+")
_HEAD = re.compile(
    r"^\s*(?:gpu|xpu|aip|card|dev|dev ?id|device|npu|chip|board|bdf|bus-id|mlu|dcu|hcu|gcu|id|idx|index|卡号|设备)\b",
    re.IGNORECASE,
)
_PROCESSES = re.compile(r"^\W*(?:compute\s+)?process(?:es)?\b|^\W*进程", re.IGNORECASE)
_PROCESSES_TITLE = re.compile(r"^\W*(?:compute\s+)?process(?:es)?\s*:", re.IGNORECASE)
_PROCESS_HEAD = re.compile(r"\bpid\b|process id|进程号", re.IGNORECASE)
_NONE_RUN = re.compile(r"no\s+(?:running\s+)?process|not supported|没有", re.IGNORECASE)
_PIECES = re.compile(r"\bmig\s*$|\bmig\b.*\bdev", re.IGNORECASE)


class Table:
    """What a boxed print-out holds: a mapping from label to text for each card, and the rows about processes.

    `processes` is None where the print-out says nothing about processes.
    """

    def __init__(self) -> None:
        self.head: list[list[list[str]]] = []
        self.first: list[list[list[str]]] = []
        self.cards: list[dict[str, str]] = []
        self.processes: list[dict[str, str]] | None = None
        self.pieces: list[str] = []


def read(text: str) -> Table:
    """Every card and process of a print-out, in the order printed."""
    table = Table()
    part = "cards"
    process_head: list[list[str]] = []
    for block in map(_from_head, _blocks(text)):
        first = " ".join(block[0])
        if any(_PIECES.search(cell) for cell in block[0]):
            part = "pieces"
        elif _PROCESSES.match(first) or any(_PROCESS_HEAD.search(" ".join(row)) for row in block):
            part, table.processes = "processes", table.processes or []
            process_head = _process_head(block) or process_head
            block = [row for row in block if _is_process(row)]
        elif part == "processes" and not any(_is_process(row) for row in block) and not _NONE_RUN.search(first):
            part = "other"
        elif any(_HEAD.match(cell) for cell in block[0]) and not any(char.isdigit() for char in block[0][0]):
            part, table.head = "cards", [[tokens.labels(cell) for cell in row] for row in block]
            table.first = table.first or table.head
            continue
        _add(table, part, block, process_head)
    return table


def _add(table: Table, part: str, block: list[Cells], process_head: list[list[str]]) -> None:
    if part == "pieces":
        table.pieces += [" | ".join(row) for row in block]
    elif part == "processes" and table.processes is not None:
        table.processes += [_row(process_head, row) for row in block if _is_process(row)]
    elif part == "cards" and table.head:
        height = len(table.head)
        rows = [row for row in block if not _goes_on(row)]
        for at in range(0, len(rows), height):
            fields = _card(table.head, rows[at : at + height])
            if fields and (table.head is table.first or not _told_before(table, fields)):
                table.cards.append(fields)


def _told_before(table: Table, fields: dict[str, str]) -> bool:
    """A second table of the same cards (their video engines, say) adds what the first did not tell."""
    label = next(iter(fields))
    known = next((card for card in table.cards if card.get(label) == fields[label]), None)
    for name, word in fields.items():
        if known is not None:
            known.setdefault(name, word)
    return known is not None


def _from_head(block: list[Cells]) -> list[Cells]:
    """A block without the title that stands on its head with no rule between."""
    for at, row in enumerate(block[:3]):
        if re.match(r"\s*\d", row[0]):
            break
        if any(_HEAD.match(cell) for cell in row):
            return block[at:] if len(row) > 1 else block
    return block


def _goes_on(row: Cells) -> bool:
    """A long name's second line: nothing but the name's cell is filled. The first line names the card well enough."""
    first = row[0].strip()
    return len(row) > 1 and bool(re.match(r"[A-Za-z]{2}", first)) and not any(cell.strip() for cell in row[1:])


def _card(head: list[list[list[str]]], rows: Sequence[Cells]) -> dict[str, str]:
    """A card begins with its number, or with the error or address that stands in its place."""
    if not rows or not re.match(r"\s*(?:\d|ERR!|N/A|\[)", rows[0][0]):
        return {}
    fields: dict[str, str] = {}
    for names, row in zip(head, rows):  # noqa: B905 - Python 3.9
        for label, word in _row(names, row).items():
            fields.setdefault(label, word)
    return fields


def _row(names: Sequence[Sequence[str]], row: Cells) -> dict[str, str]:
    fields: dict[str, str] = {}
    for labels, cell in zip(names, row):  # noqa: B905 - Python 3.9
        if labels:
            fields.update(tokens.align(labels, cell))
    return fields


def _process_head(block: list[Cells]) -> list[list[str]]:
    """The row with `PID` in it; a second row of the head only ends its labels."""
    for row in block:
        if any(_PROCESS_HEAD.search(cell) for cell in row):
            return [tokens.labels(cell) for cell in row]
    return []


def _is_process(row: Cells) -> bool:
    return bool(re.match(r"\s*\d+(?:\s|$)", row[0]))


def _blocks(text: str) -> Iterable[list[Cells]]:
    """Runs of rows between rules and blank lines."""
    block: list[Cells] = []
    for line in [*text.splitlines(), ""]:
        is_rule = bool(_RULE.match(line)) or not line.strip()
        if block and (is_rule or _PROCESSES_TITLE.match(line)):
            yield block
            block = []
        if not is_rule:
            block.append(_cells(line))


def _cells(line: str) -> Cells:
    bare = line.strip()
    if bare.startswith("|") and bare.endswith("|") and len(bare) > 1:
        return bare[1:-1].split("|")
    if bare.startswith("|") and line.startswith("|"):
        return bare[1:].split("|")
    return line.rstrip("|").split("|") if bare.endswith("|") else line.split("|")
