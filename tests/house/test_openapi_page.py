"""The console's types are generated from the schema that the server has."""

import pytest

from headway.domain.errors import LANGUAGES, Language
from tests.house.openapi_page import PAGE, page, words_of, words_page


def test_the_schema_that_the_console_is_built_from_is_the_servers() -> None:
    fresh = PAGE.read_text(encoding="utf-8") == page()
    assert fresh, "run: python -m tests.house.openapi_page"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_console_has_the_servers_words_of_closed_lists(language: Language) -> None:
    fresh = words_of(language).read_text(encoding="utf-8") == words_page(language)
    assert fresh, "run: python -m tests.house.openapi_page"
