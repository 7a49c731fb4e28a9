"""Errors as values: a code, its parameters, and texts in Chinese and English.

A code is kebab-case and unique. Its text and hint live in `messages/{zh,en}.toml` (its HTTP status in the English one);
a test demands both languages. Nothing here decides who sees an error.
"""

import tomllib
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Literal, cast

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
SPOKEN = ("rule-", "word-")
WORDS = ("what", "verb", "resource", "role", "how", "state", "must", "before", "after")
Param = str | int | float | bool | None


class PlatformError(Exception):
    """Something was refused or failed, in a way a person can act on.

    `code` names the kind; `params` fill its text and stay machine-readable.
    """

    def __init__(self, code: str, /, **params: Param) -> None:
        super().__init__(code)
        self.code = code
        self.params: dict[str, Param] = params

    def __str__(self) -> str:
        return f"{message(self.code, self.params, 'en')} [{self.code}]"

    def text(self, language: Language) -> str:
        """What happened, naming the field and the value."""
        return message(self.code, self.params, language)

    def hint(self, language: Language) -> str:
        """The way out."""
        return _fill(_entry(self.code, language)["hint"], self.params, language)


def message(code: str, params: dict[str, Param], language: Language) -> str:
    """The text of a message in one language, its parameters filled in."""
    return _fill(_entry(code, language)["text"], params, language)


def status_of(code: str) -> int:
    """The HTTP status of a code (400 unless its entry says otherwise)."""
    return int(_messages("en").get(code, {}).get("status", "500"))


def codes(language: Language) -> frozenset[str]:
    """Every code that has a text in this language."""
    return frozenset(_messages(language))


def _entry(code: str, language: Language) -> dict[str, str]:
    return _messages(language).get(code) or {"text": code, "hint": ""}


@cache
def _messages(language: Language) -> dict[str, dict[str, str]]:
    raw = files("headway.domain").joinpath(f"messages/{language}.toml").read_text(encoding="utf-8")
    return cast(dict[str, dict[str, str]], tomllib.loads(raw))


class _Lenient(Formatter):
    """Leaves a parameter that was not given as `—`, so that a message never fails to print."""

    def get_value(self, key: int | str, args: object, kwargs: object) -> object:  # noqa: ARG002
        found = cast(dict[str, Param], kwargs).get(str(key))
        return "—" if found is None else found


def _fill(text: str, params: dict[str, Param], language: Language) -> str:
    spoken = {name: _spoken(name, params, language) for name in params}
    return _Lenient().vformat(text, (), spoken)


def _spoken(name: str, params: dict[str, Param], language: Language) -> Param:
    """A rule (its own blanks filled in), or a word for a thing, in the reader's language; anything else as it is."""
    value = params[name]
    if not isinstance(value, str):
        return value
    code = value if value.startswith(SPOKEN) else f"word-{value.replace(' ', '-')}" if name in WORDS else None
    known = _messages(language).get(code) if code else None
    return _Lenient().vformat(known["text"], (), params) if known else value
