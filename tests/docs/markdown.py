"""What a guide tells its reader to do, read from Markdown.

A fenced `console` block holds commands after `$ ` and what they print; in what is printed `…` stands for anything, and
alone on a line for any lines. Another fenced block that begins with a comment naming a file is that file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^# (?P<name>[\w-]+\.\w+)\n")
ANYTHING = "…"


@dataclass(frozen=True)
class SavedFile:
    """A file the reader is asked to save."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command the reader types, what it should print, and the guide's line."""

    line: int
    text: str
    printed: tuple[str, ...]

    def fits(self, output: str) -> bool:
        """Whether this is what the guide shows, widths of columns apart."""
        pieces = ["(?:[^\n]*\n)*" if shown == ANYTHING else _pattern(shown) for shown in self.printed]
        return (
            re.fullmatch("".join(pieces), "".join(f"{_squeezed(line)}\n" for line in output.splitlines())) is not None
        )


Step = SavedFile | Command


def sections(path: Path) -> dict[str, list[Step]]:
    """What to do under each `## ` heading, in order."""
    text = path.read_text(encoding="utf-8")
    starts = [*(found.start() for found in re.finditer(r"^## ", text, re.MULTILINE)), len(text)]
    found = {}
    for start, end in pairwise(starts):
        heading = text[start:end].partition("\n")[0].removeprefix("## ")
        found[heading] = list(_steps(text, start, end))
    return found


def _steps(text: str, start: int, end: int) -> Iterator[Step]:
    for block in FENCE.finditer(text, start, end):
        named = FILE.match(block["text"])
        if block["language"] == "console":
            yield from _commands(block["text"], text.count("\n", 0, block.start("text")) + 1)
        elif named:
            yield SavedFile(named["name"], block["text"])


def _commands(block: str, first_line: int) -> Iterator[Command]:
    """A command and its output for each `$ `."""
    for found in re.finditer(r"^\$ (?P<text>.*)\n(?P<printed>(?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        line = first_line + block.count("\n", 0, found.start())
        yield Command(line, found["text"], tuple(found["printed"].splitlines()))


def _pattern(shown: str) -> str:
    return re.escape(_squeezed(shown)).replace(ANYTHING, "[^\n]*").replace(r"\ [^", "[^") + "\n"


def _squeezed(line: str) -> str:
    return " ".join(line.split())
