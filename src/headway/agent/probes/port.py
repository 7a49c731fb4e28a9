"""The port of every maker: which tools it has, how their print-outs are told apart, and what is read out of them.

A maker's module holds `READERS`, and `COMMAND` with `parse` where a node can be asked. A tool that a node lacks is no
error; a print-out in which a tool says that it failed holds no cards.
"""

from __future__ import annotations

import importlib
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from headway.agent.printouts.cards import Card

MAKERS = (
    "amd",
    "ascend",
    "cambricon",
    "enflame",
    "hygon",
    "iluvatar",
    "intel",
    "kernel",
    "kunlun",
    "metax",
    "mthreads",
    "network",
    "nvidia",
)
_FAILED = re.compile(
    r"has failed|failed to|fail(?:ed|ure)?\b|no (?:supported )?devices?\b|not found|unable to|couldn't|cannot|can't|"
    r"permission denied|error\b|is not (?:loaded|running|supported)|no such|timed? ?out|失败|错误|未找到|没有",
    re.IGNORECASE,
)
_LONGEST_FAILURE = 1500


class Reader:
    """One tool's print-out: its name, a pattern that tells it from all others of the maker, and how it is read."""

    __slots__ = ("looks", "read", "tool")

    def __init__(self, tool: str, looks: str, read: Callable[[str], Sequence[Card] | Mapping[str, Any]]) -> None:
        self.tool = tool
        self.looks = re.compile(looks, re.IGNORECASE | re.MULTILINE)
        self.read = read


class UnknownMaker(Exception):
    """No such maker."""


class UnknownText(Exception):
    """The text is of no tool that the maker is known to have."""


def readers_of(maker: str) -> Sequence[Reader]:
    """A maker's readers, most telling first. Raises UnknownMaker."""
    if maker not in MAKERS:
        raise UnknownMaker(maker)
    found: Sequence[Reader] = importlib.import_module(f"headway.agent.probes.{maker}").READERS
    return found


def read(maker: str, tool: str, text: str) -> dict[str, Any]:
    """What a print-out holds, as `read-probe` prints it. The named tool's reader goes first, then whichever fits.

    Raises UnknownMaker, UnknownText.
    """
    readers = readers_of(maker)
    named = [reader for reader in readers if reader.tool == tool and reader.looks.search(text)]
    fitting = [reader for reader in readers if reader.looks.search(text)]
    first: dict[str, Any] | None = None
    for reader in [*named, *fitting]:
        found = _as_json(reader.read(text))
        if any(found.values()):
            return found
        first = first or found
    if first is not None:
        return first
    if text.strip() and len(text) <= _LONGEST_FAILURE and _FAILED.search(text):
        return {"cards": []}
    raise UnknownText(maker)


def _as_json(found: Sequence[Card] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(found, dict):
        return {"cards": [], **found}
    return {"cards": [card.as_json() for card in found]}  # type: ignore[union-attr]
