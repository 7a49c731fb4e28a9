"""The reader's language, and every text of the command line in it. Errors of the platform have their own tables."""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from headway.domain.errors import spoken

Language = Literal["zh", "en"]


def language(environ: Mapping[str, str] = os.environ) -> Language:
    """From HEADWAY_LANG, else LC_ALL, LC_MESSAGES or LANG, the first that is set; English unless it is Chinese."""
    names = ("HEADWAY_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environ[name] for name in names if environ.get(name)), "en")
    return "zh" if wanted.lower().startswith("zh") else "en"


def say(key: str, **params: object) -> str:
    """A text by `section.name`, its blanks filled in."""
    text = texts(language())[key]
    return text.format(**params) if params else text


def word(section: str, value: str | None) -> str:
    """The word for one of a closed list's values (a state, say); the value itself where there is none, `—` for None.

    Families of words that the server tells as well (`why`, `cause`, `phase`, `fault`) stand in the domain's table.
    """
    if value is None:
        return "—"
    return texts(language()).get(f"{section}.{value}") or spoken(section, value, language())


def why(reason: str | None) -> str:
    """A reason in the reader's words, a person's own as they are; nothing where there is none."""
    return word("why", reason) if reason else ""


@cache
def texts(language: Language) -> dict[str, str]:
    """Every text of one language by `section.name`."""
    path = Path(__file__).with_name("messages") / f"{language}.toml"
    sections = tomllib.loads(path.read_text(encoding="utf-8"))
    return {f"{section}.{name}": text for section, table in sections.items() for name, text in table.items()}
