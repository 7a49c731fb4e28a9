"""Indented `Key : value` lines in sections, as `-q` of most makers prints them. Decides no meaning."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Leaf = tuple[tuple[str, ...], str]  # the sections and key that lead to a value
_LINE = re.compile(r"^(\s*)(.*?)\s*(?::(?:\s+|$)(.*)|$)")


def leaves(text: str) -> Iterator[Leaf]:
    """Every value with its path, in the order printed; a line without a value opens a section."""
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None or not found.group(2):
            continue
        indent, key, value = len(found.group(1)), found.group(2), (found.group(3) or "").strip()
        while path and path[-1][0] >= indent:
            path.pop()
        if value:
            yield (*(name for _, name in path), key), value
        else:
            path.append((indent, key))


def split(text: str, start: str) -> list[tuple[re.Match[str], str]]:
    """Cut a print-out at the lines that begin a card; each with its match and the text up to the next."""
    marks = list(re.finditer(start, text, re.MULTILINE))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [(mark, text[mark.end() : end]) for mark, end in zip(marks, ends)]  # noqa: B905 - Python 3.9
