"""docs/lifecycle.md says what the tables say. After changing a table: `python -m tests.house.lifecycle_page`."""

from tests.house.lifecycle_page import PAGE, page


def test_the_page_of_lifecycles_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.house.lifecycle_page"
