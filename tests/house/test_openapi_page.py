"""The console's types are generated from the schema that the server has."""

from tests.house.openapi_page import PAGE, page


def test_the_schema_that_the_console_is_built_from_is_the_servers() -> None:
    fresh = PAGE.read_text(encoding="utf-8") == page()
    assert fresh, "run: python -m tests.house.openapi_page"
