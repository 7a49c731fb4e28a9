"""A sign: words by which machines tell a cause, as data. Says nothing about who was first."""

import re
from dataclasses import dataclass, field
from enum import Enum

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.verdict import Owner


class Kind(Enum):
    """What a sign is worth: a fault of its own; what is said when somebody else left; a circumstance, no fault."""

    FAULT = "fault"
    FOLLOWER = "follower"
    HINT = "hint"


EVENT, SURE, PARTICULAR, LIKELY, VAGUE, WEAK = 95, 85, 70, 60, 45, 30
"""Weights: an event of the machine itself; a sure text; a particular exception; likely; vague; only if nothing else."""


@dataclass(frozen=True, slots=True)
class Sign:
    """`words`: any of them, in lower case, must stand in the line; `pattern` must fit too where there is one.

    Groups named rank, node or device in `pattern` say whom the line is about. `cases`: the labelled cases this sign was
    founded on; a sign known from the program that prints it has none. `quiet`: counts even at level INFO. `but`: not
    where this stands too.
    """

    cause: Cause
    words: tuple[str, ...]
    weight: int = PARTICULAR
    pattern: str | None = None
    kind: Kind = Kind.FAULT
    cases: tuple[str, ...] = ()
    owner: Owner | None = None
    retry: Retry | None = None
    quiet: bool = False
    but: str | None = None
    _search: re.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)
    _refuse: re.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_search", re.compile(self.pattern) if self.pattern else None)
        object.__setattr__(self, "_refuse", re.compile(self.but) if self.but else None)

    def match(self, text: str) -> "Match | None":
        """Whether a line that holds one of the words shows this sign, and whom it names."""
        found = self._search.search(text) if self._search else None
        if (self._search and not found) or (self._refuse and self._refuse.search(text)):
            return None
        named = found.groupdict() if found else {}
        rank = named.get("rank")
        return Match(self, int(rank) if rank else None, named.get("node"), named.get("device"))


@dataclass(frozen=True, slots=True)
class Match:
    """A sign in a line, and whom it names."""

    sign: Sign
    rank: int | None = None
    node: str | None = None
    device: str | None = None


def words(text: str) -> tuple[str, ...]:
    """The words of a sign, written as one text with ` | ` between them."""
    return tuple(word for each in text.split("|") if (word := each.strip()))
