"""Writes what the console takes from the server: web/openapi.json, from which its types are generated, and the words of
closed lists (web/src/i18n/words.*.json). Run it after changing a route, a body, or such a word."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from headway.domain.errors import LANGUAGES, Language, codes, text_of
from headway.server.app import create_app
from headway.server.platform import Platform
from tests.house.repository import REPOSITORY

PAGE = REPOSITORY / "web/openapi.json"
TOLD = ("why", "cause", "phase", "fault", "kind", "said")
"""Families of words, and sayings with their blanks, that facts and rows of the API hold and the console tells."""


def page() -> str:
    """The schema of people's routes: what agents speak is not the console's."""
    settings = SimpleNamespace(body_limit_bytes=1 << 20)
    schema = create_app(cast(Platform, SimpleNamespace(settings=settings)), with_loops=False).openapi()
    schema["paths"] = {path: verbs for path, verbs in schema["paths"].items() if "/agent/" not in path}
    return json.dumps(schema, ensure_ascii=False, indent=1) + "\n"


def words_page(language: Language) -> str:
    """The words by `family.value`, in one language."""
    found = sorted(code for code in codes(language) if code.partition("-")[0] in TOLD)
    told = {code.replace("-", ".", 1): text_of(code, language) for code in found}
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def words_of(language: Language) -> Path:
    """Where they stand."""
    return REPOSITORY / f"web/src/i18n/words.{language}.json"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    for each in LANGUAGES:
        words_of(each).write_text(words_page(each), encoding="utf-8")
