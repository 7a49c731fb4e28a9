"""Every sign there is, and looking them up in a line; and the judgements that were learned from labelled cases.

Which sign decides is not decided here.
"""

from collections.abc import Collection

from headway.diagnosis.signs import (
    communication,
    device,
    environment,
    followers,
    kernels,
    memory,
    program,
    samples,
    scheduling,
    storage,
)
from headway.diagnosis.signs.sign import Match, Sign

ALL: tuple[Sign, ...] = (
    *device.SIGNS,
    *memory.SIGNS,
    *storage.SIGNS,
    *program.SIGNS,
    *samples.SIGNS,
    *kernels.SIGNS,
    *environment.SIGNS,
    *scheduling.SIGNS,
    *communication.SIGNS,
    *followers.SIGNS,
)

JUDGEMENTS: dict[str, tuple[str, ...]] = {
    "tiny collective": ("063",),
    "waiting minority": ("065",),
    "before the first step": ("059",),
    "fabric never came up": ("023", "024"),
    "never runnable again": ("044",),
}
"""What was learned from these cases in reasoning rather than in signs; named where it is used."""


_GRAM = 3


class Table:
    """The signs and judgements in use; `without`: cases of which those founded on nothing else are left out.

    A line is cut into its runs of three characters once; only words that begin with one of them are looked for.
    """

    def __init__(self, without: Collection[str] = ()) -> None:
        left_out = frozenset(without)
        self._signs = tuple(sign for sign in ALL if not sign.cases or not left_out.issuperset(sign.cases))
        self._judgements = {name for name, cases in JUDGEMENTS.items() if not left_out.issuperset(cases)}
        self._words: dict[str, list[tuple[str, int]]] = {}
        self._short: list[tuple[str, int]] = []
        for at, sign in enumerate(self._signs):
            for word in sign.words:
                where = self._words.setdefault(word[:_GRAM], []) if len(word) >= _GRAM else self._short
                where.append((word, at))

    def matches(self, text: str, lower: str) -> list[Match]:
        """Every sign a line shows; `lower` is the text in lower case."""
        grams = {lower[at : at + _GRAM] for at in range(len(lower) - _GRAM + 1)}
        shown = {at for gram in grams & self._words.keys() for word, at in self._words[gram] if word in lower}
        if not lower.isascii():
            shown |= {at for word, at in self._short if word in lower}
        return [found for at in sorted(shown) if (found := self._signs[at].match(text))]

    def uses(self, judgement: str) -> bool:
        """Whether a judgement of `JUDGEMENTS` is in use."""
        return judgement in self._judgements
