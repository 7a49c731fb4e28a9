"""Errors as values: a code, its parameters, and texts in Chinese and English.

A code is kebab-case and unique. Its text and hint live in `messages/{zh,en}.toml` (its HTTP status in the English one);
a test demands both languages. A blank that names a family (`{state:word}`, `{reason:why}`) is filled with that
family's word for the value, in the reader's language; one that is `said` holds what Headway said of what it saw (a
saying, `[said-…]`), kept in English and read back; one with a clause (`{near:?: }`, `{rejected:?: |whys}`) is the
clause and the value, and nothing where there is no value. Nothing here decides who sees an error.
"""

import re
import tomllib
from datetime import datetime
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Literal, cast

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
SPOKEN = ("rule-", "word-")
FAMILIES = ("word", "why", "cause", "phase", "fault", "kind", "gauge", "scope", "priority")
"""Words of closed lists, in the tables as `[word-job]`, `[why-time-limit]`: what something is called, why something
stopped or is not taken, what broke a job, what a program is at, how an attempt broke, a kind of fact, what an alert
watches, where a role counts, a priority."""
SEVERAL = {"words": "word", "whys": "why"}
"""For several at once, `a, b` or `one: a, two: b`."""
CLAUSE = "?"
SAID = "said"
TIME = "time"
"""For a moment, ISO 8601: to the minute, in the time zone of the machine that speaks, the offset told."""
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
    return _fill(text_of(code, language), params, language)


def status_of(code: str) -> int:
    """The HTTP status of a code (400 unless its entry says otherwise)."""
    return int(_messages("en").get(code, {}).get("status", "500"))


def codes(language: Language) -> frozenset[str]:
    """Every code that has a text in this language."""
    return frozenset(_messages(language))


def text_of(code: str, language: Language) -> str:
    """The text of a message with its blanks open; the code itself where there is none."""
    return _entry(code, language)["text"]


def _entry(code: str, language: Language) -> dict[str, str]:
    return _messages(language).get(code) or {"text": code, "hint": ""}


@cache
def _messages(language: Language) -> dict[str, dict[str, str]]:
    raw = files("headway.domain").joinpath(f"messages/{language}.toml").read_text(encoding="utf-8")
    return cast(dict[str, dict[str, str]], tomllib.loads(raw))


def spoken(family: str, value: str, language: Language) -> str:
    """The word for a value of a closed list; the value itself where it has none, as what a person wrote has not."""
    known = _messages(language).get(code_of(family, value))
    return known["text"] if known else value


def code_of(family: str, value: str) -> str:
    """Under which code a word stands: `why-time-limit`."""
    return f"{family}-{value.lower().replace(' ', '-').replace('_', '-')}"


class _Speaking(Formatter):
    """Fills blanks in one language; one that was not given is left as `—`, so that a message never fails to print."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def get_value(self, key: int | str, args: object, kwargs: object) -> object:  # noqa: ARG002
        given = cast(dict[str, Param], kwargs)
        found = given.get(str(key))
        if isinstance(found, str) and found.startswith(SPOKEN):
            known = _messages(self._language).get(found)
            return self.vformat(known["text"], (), given) if known else found
        return found

    def format_field(self, value: object, format_spec: str) -> str:
        if format_spec.startswith(CLAUSE):
            clause, _, family = format_spec.removeprefix(CLAUSE).partition("|")
            return clause + self.format_field(value, family) if value not in (None, "") else ""
        if value is None:
            return "—"
        if format_spec == TIME:
            return _moment(str(value))
        if format_spec == SAID:
            return retold(str(value), self._language)
        if format_spec in SEVERAL:
            return self._several(SEVERAL[format_spec], str(value))
        if format_spec in FAMILIES:
            return spoken(format_spec, str(value), self._language)
        return str(super().format_field(value, format_spec))

    def _several(self, family: str, value: str) -> str:
        parts = [each.rpartition(": ") for each in value.split(", ")]
        named = [f"{head}{colon}{spoken(family, word, self._language)}" for head, colon, word in parts]
        return ("、" if self._language == "zh" else ", ").join(named)


BETWEEN = "; "
_BETWEEN: dict[Language, str] = {"en": BETWEEN, "zh": "；"}
_SHAPES = {"mount": "/.*", "path": "/.*", "line": r"\d+"}
"""What may stand in a blank of a saying; anything, where nothing is said of it."""


def say(saying: str, **params: Param) -> str:
    """What Headway says of what it saw, as it is kept: in English, as evidence is."""
    return message(f"{SAID}-{saying}", params, "en")


def retold(kept: str, language: Language) -> str:
    """One saying, or several, in words of this language, whenever they were written. What no saying made, as a
    program's own line, stays as it is."""
    if language == "en":
        return kept
    whole = _one(kept, language)
    if whole is not None or BETWEEN not in kept:
        return whole or kept
    first, *rest = kept.split(BETWEEN)
    told = _one(first, language) or first
    for part in rest:
        found = _one(part, language)
        told += f"{_BETWEEN[language]}{found}" if found else f"{BETWEEN}{part}"
    return told


def _one(kept: str, language: Language) -> str | None:
    for code, pattern in _patterns():
        found = pattern.fullmatch(kept)
        if found:
            return message(code, dict(found.groupdict()), language)
    return None


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """The sayings by which a text is known, the closer before the wider."""
    texts = {code: entry["text"] for code, entry in _messages("en").items() if code.startswith(f"{SAID}-")}
    parsed = {code: list(Formatter().parse(text)) for code, text in texts.items()}
    closest = sorted(parsed, key=lambda code: -sum(len(literal) for literal, *_ in parsed[code]))
    return [(code, re.compile("".join(_shape(part) for part in parsed[code]), re.DOTALL)) for code in closest]


def _shape(part: tuple[str, str | None, str | None, str | None]) -> str:
    literal, name, *_ = part
    return re.escape(literal) + (f"(?P<{name}>{_SHAPES.get(name, '.+')})" if name else "")


def _moment(value: str) -> str:
    """ "2026-12-01 22:33 +08:00"; what is no moment, as what a person typed may be none, as it is."""
    try:
        at = datetime.fromisoformat(value).astimezone()
    except ValueError:
        return value
    offset = at.strftime("%z")
    return f"{at:%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def _fill(text: str, params: dict[str, Param], language: Language) -> str:
    return _Speaking(language).vformat(text, (), params)
