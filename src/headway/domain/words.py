"""Which values of a fact are words of a closed list, and what they are called in the reader's language.

What a person wrote (a reason, a name) is no such word and stays as it is. Nothing here decides what is recorded.
"""

from collections.abc import Mapping
from typing import Any

from headway.domain.errors import Language, code_of, codes, spoken

OF_FIELDS: Mapping[str, tuple[str, ...]] = {
    "reason": ("why",),
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


def told(field: str, value: Any, language: Language) -> Any:
    """One value as it is told; what is no known word as it is."""
    if not isinstance(value, str):
        return value
    family = next((f for f in OF_FIELDS.get(field, ()) if code_of(f, value) in codes(language)), None)
    return value if family is None else spoken(family, value, language)
