"""Which values of a fact are words of a closed list, and what they are called in the reader's language.

What Headway said in a sentence of its own (`errors.say`) is told in that language too; what a person or a program wrote
stays as it is. Nothing here decides what is recorded.
"""

from collections.abc import Mapping
from typing import Any

from headway.domain.alert import FACT
from headway.domain.errors import SAID, Language, code_of, codes, retold, spoken

OF_FIELDS: Mapping[str, tuple[str, ...]] = {
    "reason": ("why", SAID),
    "detail": (SAID,),
    "cause": ("cause", "why"),
    "why": ("why",),
    "phase": ("phase",),
    "state": ("word",),
    "outcome": ("word", "why"),
    "fault": ("fault",),
    "kill": ("word",),
    "role": ("word",),
}
"""The families in which a field's words are looked up, in this order."""


def in_words(data: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """A fact's values, those that are words of a closed list in the reader's language."""
    return {name: told(name, value, language) for name, value in data.items()}


def watched(watches: str, language: Language) -> str:
    """What an alert rule watches: a gauge or a kind of fact by its name, a reading as it is called."""
    if watches.startswith(FACT):
        return spoken("kind", watches.removeprefix(FACT), language)
    return spoken("gauge", watches, language)


def told(field: str, value: Any, language: Language) -> Any:
    """One value as it is told; what is no known word as it is."""
    if not isinstance(value, str):
        return value
    families = OF_FIELDS.get(field, ())
    family = next((f for f in families if code_of(f, value) in codes(language)), None)
    if family is not None:
        return spoken(family, value, language)
    return retold(value, language) if SAID in families else value
